"""Simulated systems in which a rare row lies under every explanation, so that a sample may show no trace of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.explanations.highlights import Highlights


@dataclass(frozen=True)
class HubUnderTopics:
    """Documents of many topics, each explained by its topic's word; a word list, rarely, contains all these words.

    All documents have one label and word lists the other. A sample that holds no word list has no contradiction, and
    nothing in it is silent.

    Parameters
    ----------
    topics : int
        Equally likely topics.
    hub : float
        Share of rows that are word lists.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import HubUnderTopics
    >>> system = HubUnderTopics(topics=40, hub=1 / 400)
    >>> round(system.truth, 3)
    0.909
    >>> rows = system.draw(400, np.random.default_rng(0))
    >>> sorted(rows)
    ['X', 'explanations', 'predictions']
    >>> estimate = fs.sufficiency(**rows)
    """

    topics: int
    hub: float

    @property
    def truth(self) -> float:
        """Sufficiency: a topic's word covers the topic and the word lists; a word list's own mark covers these."""
        return (1 - self.hub) * _share(self.topics, self.hub) + self.hub

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and X, the documents."""
        topics, hubs = rng.integers(0, self.topics, n), rng.random(n) < self.hub
        word_list = " ".join(["list", *(f"topic-{topic}" for topic in range(self.topics))])
        words = [{"list"} if hub else {f"topic-{topic}"} for topic, hub in zip(topics, hubs, strict=True)]
        texts = [word_list if hub else f"topic-{topic}" for topic, hub in zip(topics, hubs, strict=True)]
        return {"explanations": Highlights(words), "predictions": hubs.astype(int), "X": texts}


@dataclass(frozen=True)
class HubUnderDirections:
    """Explanations are unit vectors along one of many axes; rarely, one is the zero vector, which is close to all.

    Vectors along different axes are √2 apart. Zero vectors have a label of their own.

    Parameters
    ----------
    dimensions : int
        Axes, equally likely.
    hub : float
        Share of rows whose explanation is the zero vector.
    tau : float
        Explanations at this distance count as the same; from 1 to below √2.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import HubUnderDirections
    >>> system = HubUnderDirections(dimensions=60, hub=1 / 400)
    >>> round(system.truth, 3)
    0.867
    >>> estimate = fs.within(**system.draw(400, np.random.default_rng(0)))
    """

    dimensions: int
    hub: float
    tau: float = 1.05

    @property
    def truth(self) -> float:
        """Probability that a row within tau has the same label; within tau of a zero vector are all rows."""
        return (1 - self.hub) * _share(self.dimensions, self.hub) + self.hub**2

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and tau."""
        axes, hubs = rng.integers(0, self.dimensions, n), rng.random(n) < self.hub
        vectors = np.where(hubs[:, None], 0.0, np.eye(self.dimensions)[axes])
        return {"explanations": vectors, "predictions": hubs.astype(int), "tau": self.tau}


def _share(parts: int, hub: float) -> float:
    """Share of a part's own rows among those and the hub."""
    own = (1 - hub) / parts
    return own / (own + hub)
