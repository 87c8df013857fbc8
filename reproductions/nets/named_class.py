"""The class of transformers that a config stands for: the one it names, and no guess among several.

Many types of model have several classes: BART's config fits its decoder too, with 254 of its 406
million parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import SpecError, nearest

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel


def class_of(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """Return the class that a config names under `architectures`.

    One that names none stands for its type's only language model, or its bare model where it has no
    language model. Raises SpecError for a name that is no class of this type, and where a config
    leaves open which of several it is.
    """
    named = config.architectures
    if not named:
        found = [*_language_models(config)]
        where = "names no class under architectures, where its type has"
    elif isinstance(named, list) and all(isinstance(name, str) for name in named):
        found = [_class(name, config) for name in named]
        where = "names more than one class under architectures,"
    else:
        raise SpecError(f"the config says architectures={named!r}: need a list of one class's name")
    if len(found) != 1:
        which = " and ".join(each.__name__ for each in found) or "none"
        raise SpecError(f"the config {where} {which}: name the one that it is")
    return found[0]


def causal_lm_of(config: PreTrainedConfig) -> type[PreTrainedModel]:
    """Return the class that a config names, which `AutoModelForCausalLM` makes of it.

    Raises SpecError for one that names another kind of model.
    """
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    found = class_of(config)
    causal: Any = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    is_causal = found is causal
    if not is_causal:
        raise SpecError(
            f"{found.__name__}, which the config stands for, is no causal language model: need one"
        )
    return found


def _class(name: str, config: PreTrainedConfig) -> type[PreTrainedModel]:
    import transformers
    from transformers import PreTrainedModel

    found: Any = getattr(transformers, name, None)
    is_model = isinstance(found, type) and issubclass(found, PreTrainedModel)
    if not is_model or not isinstance(config, found.config_class or ()):
        known = [each.__name__ for each in _language_models(config)]
        raise SpecError(
            f"the config names {name!r}, which is no class of transformers for the type"
            f" {config.model_type!r}{nearest(name, known)}: name one that is, under architectures"
        )
    model: type[PreTrainedModel] = found
    return model


def _language_models(config: PreTrainedConfig) -> dict[type[PreTrainedModel], None]:
    """Return the classes with a head for text that a type of model has, else its bare model."""
    from transformers.models.auto import modeling_auto as auto

    heads: list[Any] = [
        auto.MODEL_FOR_CAUSAL_LM_MAPPING, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
        auto.MODEL_FOR_MASKED_LM_MAPPING, auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING,
        auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING,
    ]  # fmt: skip
    found = [mapping[type(config)] for mapping in heads if type(config) in mapping]
    bare = [auto.MODEL_MAPPING[type(config)]] if type(config) in auto.MODEL_MAPPING else []
    return dict.fromkeys(found or bare)
