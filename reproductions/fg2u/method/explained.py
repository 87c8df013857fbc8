"""Torch's errors about derivatives, in sentences that say who must do what."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from harness.errors import HarnessError, SpecError

_ELSEWHERE = "write it in other operations, or use fg2u-zo"
_MESSAGES = (
    (
        r"forward AD with (?P<op>\S+) that does not support it"
        r"|forward mode AD.* custom autograd.Function (?P<custom>\S*)|forward mode AD",
        "an inner step uses {op}, which has no forward-mode rule: write it in other operations,"
        " or use rgu or fg2u-zo",
    ),
    (
        r"derivative for '?(?P<op>[^ ']+)'? is not implemented"
        r"|the derivative of '?(?P<other>[^ ']+)'? is not implemented",
        "an inner step uses {op}, whose gradient has no derivative of its own: " + _ELSEWHERE,
    ),
    (
        r"autograd.Function with functorch",
        "an inner step uses an autograd.Function of the old kind, as a re-entrant checkpoint does:"
        " give it setup_context, and jvp for forward methods, and switch checkpoints off",
    ),
    (
        r"saved tensor hooks",
        "an inner step is checkpointed, which torch.func cannot look through: switch that off (a"
        " model of transformers: gradient_checkpointing_disable()); rgu-checkpoint keeps the graph"
        " of a few steps alone, fg2u of none",
    ),
    (
        r"double backward|functorch tracing|compiled with torch.compile",
        "an inner step is compiled, and graphs of torch.compile have no second derivative: hand in"
        " what was there before",
    ),
    (
        r"mutate a captured Tensor|in-place operation|inplace arithmetic",
        "an inner step changes a tensor in place, as batch norm does with running statistics:"
        " return new tensors; for norms set track_running_stats=False, or use group norm",
    ),
    (
        r"random operation while in randomness error mode",
        "an inner step draws random numbers, and each direction would see others: draw them before"
        " and hand them over in the batch",
    ),
    (
        r"calling \.item\(\)|data-dependent control flow|call numpy\(\) on",
        "an inner step leaves torch (.item(), .numpy(), an if on a value): compute with tensors,"
        " or use fg2u-zo with chunk=1",
    ),
    (
        r"inference tensor",
        "an inner step uses a tensor made under torch.inference_mode, which has no derivatives:"
        " make it under torch.no_grad()",
    ),
    (
        r"only for (real )?scalar outputs|to return a scalar",
        "the inner loss must return one number: take its mean or sum",
    ),
    (
        r"does not require grad and does not have a grad_fn",
        "an inner step detaches what it computes: the loss has no history to differentiate",
    ),
)


@contextlib.contextmanager
def explained(method: str) -> Iterator[None]:
    """Turn torch's errors about derivatives into sentences that say who must do what."""
    try:
        yield
    except HarnessError:
        raise
    except (NotImplementedError, RuntimeError) as error:
        for pattern, message in _MESSAGES:
            found = re.search(pattern, str(error), re.IGNORECASE | re.DOTALL)
            if found:
                op = next((name for name in found.groups() if name), "a function of its own")
                raise SpecError(f"{method}: {message.format(op=op)}") from error
        raise


def has_no_forward_rule(error: Exception) -> bool:
    """Say whether torch lacks a forward-mode rule for something."""
    return re.search(_MESSAGES[0][0], str(error)) is not None
