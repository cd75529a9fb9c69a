"""A server of our own: files as they are, cut off, slow, in parts or not at all, as a test wants them."""

import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from faithscope.datasets import catalog, download


class Files(BaseHTTPRequestHandler):
    """Sends a file from where it is asked to; does as its server's list of faults says, one per request."""

    def do_GET(self):
        server, path = self.server, self.path.lstrip("/")
        server.paths.append(path)
        fault = server.faults.pop(0) if server.faults else None
        content = server.files.get(path, server.content)
        if isinstance(fault, int) or content is None:
            return self.send_error(fault or 404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        end = len(content) // 2 if fault == "cut" else len(content)
        with suppress(OSError):  # the child that asked was killed
            for place in range(0, end, 2048):
                self.wfile.write(content[place : min(place + 2048, end)])
                time.sleep(server.pause)
        return None

    def log_message(self, *_):
        pass


@contextmanager
def served(monkeypatch, folder):
    """A server of any content, and a folder to keep downloads in."""
    monkeypatch.setattr(download, "_PAUSE", 0.001)
    monkeypatch.delenv("FAITHSCOPE_DATA", raising=False)
    monkeypatch.setenv("FAITHSCOPE_CACHE", str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.faults, server.paths, server.pause = [], [], 0.0
    server.files, server.content = {}, None
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def stands_for(name, **known):
        """Let a data set of the catalog come from here, with content that is known."""
        source = replace(catalog.CATALOG[name], url=f"http://127.0.0.1:{server.server_port}/", **known)
        monkeypatch.setitem(catalog.CATALOG, name, source)

    server.stands_for = stands_for
    yield server
    server.shutdown()
    server.server_close()
