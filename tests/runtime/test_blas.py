"""BLAS is back on all its threads once nobody needs it on one, however callers overlap."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from faithscope.runtime.threads import _libraries, one_blas_thread

threadpoolctl = pytest.importorskip("threadpoolctl")


def threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return [library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]


def test_the_last_to_leave_lifts_the_limit():
    _libraries.cache_clear()  # other tests may have loaded further libraries since
    with threadpoolctl.threadpool_limits(2, "blas"):
        before, first, second = threads(), one_blas_thread(), one_blas_thread()
        assert before
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads()) <= {1}
        second.__exit__(None, None, None)
        assert threads() == before


def test_many_threads_leave_what_was_there():
    def call(_):
        with one_blas_thread():
            return np.ones((20, 20)) @ np.ones((20, 20))

    with threadpoolctl.threadpool_limits(2, "blas"), ThreadPoolExecutor(4) as pool:
        before = threads()
        list(pool.map(call, range(200)))
        assert threads() == before
