"""Table 1: FedSign and five other federated algorithms on Dirichlet splits.

The algorithms themselves are a library, which this package hands on:
`from reproductions.asymvalley.federated import FedSign`.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """Return a name of the library; it is imported when it is asked for, and torch with it."""
    from reproductions.asymvalley.method import federated

    return getattr(federated, name)
