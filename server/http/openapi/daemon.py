"""How the daemon is, and what describes it."""

from __future__ import annotations

from server.http.openapi.parts import Schema, json_response, operation, problem_response


def paths() -> Schema:
    """What can be asked, by path."""
    status = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
    html = {"text/html": {"schema": {"type": "string"}}}
    limits = {str(code): problem_response(code) for code in (403, 429)}
    return {
        "/v1/status": {
            "get": operation(
                "status", "daemon", "Version, workers, matches", "",
                {200: ("How it is.", {"type": "object"})},
            )
        },
        "/v1/events": {
            "get": operation(
                "followDaemon",
                "daemon",
                "How it is doing, as it happens",
                "Server-sent events: `history`, the last ten minutes, then a `point` every other second:"
                " latency by street and method, margins, queue, workers, fallbacks, matches, memory.",
                {},
                stream=200,
            )
        },
        "/healthz": {
            "get": {
                "operationId": "healthz", "tags": ["daemon"], "summary": "Alive", "security": [{}],
                "responses": {"200": json_response("It is.", status), **limits},
            }
        },
        "/readyz": {
            "get": {
                "operationId": "readyz", "tags": ["daemon"], "summary": "Able to decide", "security": [{}],
                "responses": {
                    "200": json_response("A worker is warm.", status),
                    "503": json_response("Not yet.", status),
                    **limits,
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics", "tags": ["daemon"], "summary": "For Prometheus", "security": [{}],
                "responses": {
                    "200": {
                        "description": "Metrics.",
                        "content": {"text/plain": {"schema": {"type": "string"}}},
                    },
                    **limits,
                },
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi", "tags": ["daemon"], "summary": "This document", "security": [{}],
                "responses": {"200": json_response("OpenAPI 3.1.", {"type": "object"}), **limits},
            }
        },
        "/docs": {
            "get": {
                "operationId": "docs", "tags": ["daemon"], "summary": "The same for people",
                "security": [{}],
                "responses": {"200": {"description": "A page.", "content": html}, **limits},
            }
        },
    }  # fmt: skip
