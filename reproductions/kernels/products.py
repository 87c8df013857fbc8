"""What kernels that multiply take, so that who chooses one can say why it does not."""

from __future__ import annotations

import torch
from torch import Tensor, nn

DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def why_no_product(*factors: Tensor) -> str:
    """Say why kernels do not multiply these as they are here and now; nothing if they do.

    >>> why_no_product(torch.ones(2), torch.ones(2, dtype=torch.float64))
    'float32 times float64'
    """
    dtypes = [factor.dtype for factor in factors]
    if dtypes[0] not in DTYPES or len(set(dtypes)) > 1:
        return " times ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
    for factor in factors:
        if type(factor) not in (Tensor, nn.Parameter):
            return f"a {type(factor).__name__} is no whole tensor"
    if torch.is_autocast_enabled(factors[0].device.type):
        return "autocast, which a kernel does not follow"
    return ""
