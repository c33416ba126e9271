"""What can go wrong with a server, in words that say what to do.

Every fault of a connection becomes a `ModelError` here. Nothing of the SDK is imported: exceptions
are told apart by what they carry, and texts of servers are masked before anybody sees them, because
some of them repeat the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from studio.core.models.base import ModelError
from studio.core.models.remote.server_words import (
    card_text,
    names_model,
    refused_parameter,
    request_id,
    retry_after,
    says_no_page,
    says_too_long,
    says_wrong_key,
)

LONGEST_TEXT = 400
"""Characters of what a server says that are shown."""

_AZURE_ADDRESS = "It is written as https://NAME.openai.azure.com."


class UnsupportedParameterError(ModelError):
    """The server takes no such parameter; the call may go without it."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(
            "unsupported-parameter",
            message,
            f"Take {parameter!r} out of the options, or choose another model.",
        )
        self.parameter = parameter
        """First part of the parameter's path in the body."""


class RetryLaterError(ModelError):
    """A fault that passes; the server may have said when."""

    def __init__(self, kind: str, message: str, hint: str, after: float | None = None) -> None:
        super().__init__(kind, message, hint, retryable=True)
        self.after = after
        """Seconds to wait, where the server said so."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is being talked to, for messages."""

    name: str
    """The connection's name."""

    address: str
    """Its base address, without credentials."""

    model: str
    """The model id that was asked for."""

    proxy: str = ""
    """The proxy on the way, without credentials; empty where there is none."""

    is_azure: bool = False
    """Whether it is a resource of Azure, whose models are asked for by their deployments."""

    @property
    def may_be_proxy(self) -> bool:
        """Whether an answer can be the proxy's own: it reads what is not encrypted."""
        return bool(self.proxy) and self.address.startswith("http://")


def status_fault(
    status: int,
    headers: Mapping[str, str],
    body: object,
    target: Endpoint,
    mask: Callable[[str], str],
) -> ModelError:
    """The fault of an HTTP status.

    Args:
        status: 3xx, 4xx or 5xx.
        headers: the response's, names in lower case.
        body: the body: its `error` where it has one, else all of it, or its text.
        target: who answered.
        mask: blanks out keys.
    """
    error = body if isinstance(body, Mapping) else {}
    words = card_text(body)
    statement = mask(words.text)[:LONGEST_TEXT]
    is_temporary = status in (408, 409, 425, 429) or status >= 500  # in the sentence before it
    quoted = _quoted(statement, 0 if is_temporary else status, mask(request_id(headers)))
    who = target.name
    if (fault := _of_place(status, statement, quoted, error, target)) is not None:
        return fault
    match status:
        case 401:
            return _wrong_key(who, quoted)
        case 403:
            return ModelError(
                "forbidden",
                f"{who} does not allow this.{quoted}",
                "Check what the key may do, and that its account may use the model.",
            )
        case 404 | 405:
            return _not_found(statement, quoted, error, target)
        case 407:
            return proxy_wants_name(target)
        case 408 | 409 | 425:
            return RetryLaterError(
                "timeout", f"{who} gave up waiting ({status}).{quoted}", "Run again."
            )
        case 413:
            return _too_long(who, quoted)
        case 429:
            return _limited(who, quoted, headers, error)
    if 300 <= status < 400:
        return _moved(mask(headers.get("location", ""))[:LONGEST_TEXT], target)
    if status >= 500:
        return RetryLaterError(
            "server-error",
            f"{who} has an error of its own ({status}).{quoted}",
            "Run again in a while.",
            retry_after(headers),
        )
    return _named_cause(status, statement, quoted, error, target) or _refused_request(
        who, statement, quoted, error, words.fields
    )


def _of_place(
    status: int, said: str, quoted: str, error: Mapping[str, object], target: Endpoint
) -> ModelError | None:
    """What a status means behind a proxy, or of Azure, and not of other servers."""
    if target.may_be_proxy and status in (403, 502, 503, 504):
        return _of_either(status, quoted, target)
    if target.is_azure and status in (400, 401, 404, 405):
        return _azure_fault(said, quoted, error, target)
    return None


def _moved(place: str, target: Endpoint) -> ModelError:
    """The fault of a server that sends on; it is not followed, for the key is for this address."""
    return ModelError(
        "moved",
        f"{target.name} sends on from {target.address} to {place or 'another address'}.",
        "Enter the address that it sends to in the connection, without what the API adds. Where "
        "that is a page to sign in, sign in with a browser first.",
    )


def _of_either(status: int, quoted: str, target: Endpoint) -> ModelError:
    """The fault of an answer that is the server's or that of the proxy before it."""
    message = (
        f"{target.name}, or the proxy {target.proxy} on the way to it, "
        + ("does not allow this" if status == 403 else "cannot be reached or has an error")
        + f" ({status}).{quoted}"
    )
    hint = "Name the server in NO_PROXY where it can be reached without the proxy"
    if status == 403:
        return ModelError("proxy", message, f"{hint}; else check what the key may do.")
    return RetryLaterError("proxy", message, f"{hint}; else check that it runs.")


def _azure_fault(
    said: str, quoted: str, error: Mapping[str, object], target: Endpoint
) -> ModelError | None:
    """What Azure says of resources, deployments and versions, which others do not have."""
    code = str(error.get("code"))
    if code in ("DeploymentNotFound", "OperationNotSupported"):
        lacks = code == "OperationNotSupported"
        return ModelError(
            "unknown-model",
            f"The deployment {target.model!r} of {target.name} cannot chat.{quoted}"
            if lacks
            else f"{target.name} has no deployment {target.model!r}.{quoted}",
            "Enter the name of another deployment, one of a chat model."
            if lacks
            else "Enter the name of a deployment of this resource, as Azure's portal lists it; it "
            "need not be the model's. A new one takes some minutes.",
        )
    if "api version" in said.lower() or "api-version" in said.lower():
        return ModelError(
            "bad-address",
            f"{target.name} does not know this version of the API.{quoted}",
            "Leave the connection's API version empty, or enter one that Azure lists.",
        )
    if "subscription key" in said.lower():
        return ModelError(
            "unauthorised",
            f"{target.name} does not accept the key, or the key is another resource's.{quoted}",
            f"Copy key and endpoint from one page of Azure's portal. {_AZURE_ADDRESS}",
        )
    if code == "404" or said == "Resource not found":
        hint = f"Check the address in the connection. {_AZURE_ADDRESS}"
        return ModelError("not-found", f"There is no API at {target.address}.{quoted}", hint)
    return None


def _named_cause(
    status: int, said: str, quoted: str, error: Mapping[str, object], target: Endpoint
) -> ModelError | None:
    """A cause that the server words, and says by another status than others do."""
    if status == 402:
        return _no_quota(target.name, quoted)
    if says_wrong_key(said):
        return _wrong_key(target.name, quoted)
    return _unknown_model(quoted, target) if names_model(said, error) else None


def _wrong_key(who: str, quoted: str) -> ModelError:
    return ModelError(
        "unauthorised",
        f"{who} does not accept the key.{quoted}",
        "Enter the key again in the connection, or check its environment variable.",
    )


def _not_found(said: str, quoted: str, error: Mapping[str, object], target: Endpoint) -> ModelError:
    """No such model, or nothing at the address, as far as the server's words tell them apart."""
    if names_model(said, error) or said.startswith("model:"):
        return _unknown_model(quoted, target)
    hint = "Check the address in the connection (it usually ends in /v1)."
    if not said or says_no_page(said):
        return ModelError("not-found", f"There is no API at {target.address}.{quoted}", hint)
    return ModelError(
        "not-found",
        f"{target.name} knows no model {target.model!r}, or nothing at {target.address}.{quoted}",
        "Choose a model from its list, and check the address (it usually ends in /v1).",
    )


def _unknown_model(quoted: str, target: Endpoint) -> ModelError:
    return ModelError(
        "unknown-model",
        f"{target.name} knows no model {target.model!r}.{quoted}",
        "Choose a model from its list.",
    )


def proxy_wants_name(target: Endpoint) -> ModelError:
    """The fault of a proxy that knows nobody."""
    return ModelError(
        "proxy",
        f"The proxy {target.proxy} on the way to {target.address} wants a name and a password, or "
        "others than it got."
        if target.proxy
        else f"A proxy on the way to {target.address} wants a name and a password (407).",
        "Write them into HTTPS_PROXY (or HTTP_PROXY, ALL_PROXY) as http://name:password@host:port, "
        "and start the studio again.",
    )


def stream_fault(body: object, target: Endpoint, mask: Callable[[str], str]) -> ModelError:
    """An error that the server sent in the middle of a reply, in whatever shape."""
    text = mask(card_text(body).text)[:LONGEST_TEXT] or "it does not say which"
    if says_too_long(text, {}):
        return _too_long(target.name, _quoted(text))
    return RetryLaterError(
        "server-error",
        f"{target.name} broke off with an error: {text}",
        "What had come is kept. Run again.",
    )


def _limited(
    who: str, quoted: str, headers: Mapping[str, str], error: Mapping[str, object]
) -> ModelError:
    if "insufficient_quota" in (error.get("code"), error.get("type")):
        return _no_quota(who, quoted)
    return RetryLaterError(
        "rate-limited",
        f"{who} asks to be called less often (429).{quoted}",
        "Wait a while and run again.",
        retry_after(headers),
    )


def _no_quota(who: str, quoted: str) -> ModelError:
    return ModelError(
        "no-quota",
        f"{who} says that the account has nothing left to spend.{quoted}",
        "Check the account's plan and payment.",
    )


def _refused_request(
    who: str, said: str, quoted: str, error: Mapping[str, object], fields: tuple[str, ...]
) -> ModelError:
    if says_too_long(said, error):
        return _too_long(who, quoted)
    parameter = refused_parameter(said, error, fields)
    if parameter:
        return UnsupportedParameterError(f"{who} takes no {parameter!r}.{quoted}", parameter)
    if "credit balance" in said:
        return _no_quota(who, quoted)
    if "content_filter" in (error.get("code"), error.get("type")):
        return ModelError(
            "content-filter",
            f"{who}'s content filter refused the request.{quoted}",
            "Change the prompt.",
        )
    return ModelError(
        "bad-request",
        f"{who} does not accept the request.{quoted}",
        "Look at the Request tab, and at what the message says.",
    )


def _too_long(who: str, quoted: str) -> ModelError:
    return ModelError(
        "too-long",
        f"The conversation is too long for the model at {who}.{quoted}",
        "Shorten the prompt or the history, or choose a model with a larger context window.",
    )


def _quoted(said: str, status: int = 0, number: str = "") -> str:
    """What a server says, to follow a sentence; other sentences may follow it.

    Args:
        said: its words.
        status: the HTTP status; 0 where there is none.
        number: the request's number.
    """
    known = [f"status {status}"] if status else []
    known += [f"request {number}"] if number else []
    where = f" ({', '.join(known)})" if known else ""
    if not said:
        return where
    end = "" if said[-1] in ".!?…" else "."
    return f" It says: {said}{end}{where}"
