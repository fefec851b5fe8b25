"""Building blocks of the OpenAPI paths and schemas."""

from __future__ import annotations

from typing import Any

from server.http.bodies import JSON_TYPE, MSGPACK_TYPE
from server.http.hand_routes import LEAST_BUDGET, MOST_BUDGET
from server.http.problems import PROBLEM_TYPE
from server.http.solve_routes import EVENT_STREAM

Schema = dict[str, Any]

PROBLEMS = {
    400: "The body or the query is invalid.",
    401: "The key is missing or unknown.",
    403: "The key lacks the scope, or the daemon is addressed by another host name.",
    404: "No such resource, or it belongs to another key.",
    405: "The method is not allowed here.",
    408: "The body did not arrive in time.",
    409: "The hand has changed, or is not over.",
    413: "The body is too large.",
    415: "The body is neither JSON nor msgpack.",
    422: "The request is well-formed, but the rules or the solver reject it.",
    429: "Too many requests with this key, or the maximum number of solves is running.",
}

CARD = {"type": "string", "pattern": "^[2-9TJQKA][cdhs]$", "examples": ["As"]}
CARDS = {"type": "array", "items": CARD}
BUDGET = {
    "type": ["number", "null"],
    "minimum": LEAST_BUDGET,
    "maximum": MOST_BUDGET,
    "description": "time budget per hand in seconds; default: the daemon's `agent.budget`",
}
BETTING = {
    "type": ["string", "null"],
    "maxLength": 2048,
    "pattern": "^[\\x00-\\x7f]*$",
    "description": "in ACPC notation; raises are totals over the hand",
    "examples": ["r300c/cr450"],
}
_ANY_ID = {"type": "string", "maxLength": 128}
_EVERYWHERE = (401, 403, 429)
_WITH_BODY = (400, 408, 413, 415)


def operation(
    name: str,
    tag: str,
    summary: str,
    description: str,
    results: dict[int, tuple[str, Schema]],
    body: Schema | None = None,
    parameters: list[Schema] | None = None,
    problems: tuple[int, ...] = (),
    text: bool = False,
    stream: int = 0,
) -> Schema:
    """One operation.

    text    whether results are also available as plain text
    stream  status of a result that is also available as an event stream; 0: none
    """
    responses: Schema = {}
    for status, (words, schema) in results.items():
        content = {JSON_TYPE: {"schema": schema}, MSGPACK_TYPE: {"schema": schema}}
        if text:
            content["text/plain"] = {"schema": {"type": "string"}}
        responses[str(status)] = {"description": words, "content": content}
    if stream:
        told = responses.setdefault(str(stream), {"description": "Events, as they happen.", "content": {}})
        told["content"][EVENT_STREAM] = {"schema": {"type": "string"}}
    refused = {*_EVERYWHERE, *problems, *(_WITH_BODY if body is not None else ())}
    responses |= {str(status): problem_response(status) for status in sorted(refused)}
    described: Schema = {"operationId": name, "tags": [tag], "summary": summary, "responses": responses}
    if description:
        described["description"] = description
    if parameters:
        described["parameters"] = parameters
    if body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {JSON_TYPE: {"schema": body}, MSGPACK_TYPE: {"schema": body}},
        }
    return described


def request(
    properties: Schema, required: list[str] | None = None, examples: list[Any] | None = None
) -> Schema:
    """A request body: an object with these properties and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        schema["required"] = required
    if examples:
        schema["examples"] = examples
    return schema


def ascii_text(most: int, words: str, examples: list[str] | None = None) -> Schema:
    """ASCII text of at most this many characters, or null."""
    schema: Schema = {
        "type": ["string", "null"], "maxLength": most, "pattern": "^[\\x00-\\x7f]*$", "description": words,
    }  # fmt: skip
    return {**schema, "examples": examples} if examples else schema


def list_of(name: str, schema: str) -> Schema:
    """An object with a single property: a list of items of this schema."""
    return {
        "type": "object",
        "required": [name],
        "properties": {name: {"type": "array", "items": ref(schema)}},
    }


def one_of(*names: str) -> Schema:
    """Any of these schemas."""
    return {"anyOf": [ref(name) for name in names]}


def ref(name: str) -> Schema:
    """A reference to a schema."""
    return {"$ref": f"#/components/schemas/{name}"}


def path(name: str) -> Schema:
    """A path parameter."""
    return {"name": name, "in": "path", "required": True, "schema": _ANY_ID}


def query(name: str, schema: Schema, words: str) -> Schema:
    """An optional query parameter."""
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": words}


def json_response(words: str, schema: Schema) -> Schema:
    """A response in JSON only."""
    return {"description": words, "content": {JSON_TYPE: {"schema": schema}}}


def problem_response(status: int) -> Schema:
    """An error response (RFC 9457)."""
    return {"description": PROBLEMS[status], "content": {PROBLEM_TYPE: {"schema": ref("Problem")}}}
