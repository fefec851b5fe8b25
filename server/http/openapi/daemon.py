"""OpenAPI: status, metrics and documentation of the daemon."""

from __future__ import annotations

from server.http.openapi.parts import Schema, json_response, operation, problem_response


def paths() -> Schema:
    """The operations, by path."""
    status = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}
    html = {"text/html": {"schema": {"type": "string"}}}
    limits = {str(code): problem_response(code) for code in (403, 429)}
    return {
        "/v1/status": {
            "get": operation(
                "status", "daemon", "Version, workers, matches", "",
                {200: ("The status.", {"type": "object"})},
            )
        },
        "/v1/events": {
            "get": operation(
                "followDaemon",
                "daemon",
                "Live metrics",
                "Server-sent events: `history`, the last ten minutes, then a `point` every two seconds:"
                " latency by street and method, margins, queue, workers, fallbacks, matches, memory.",
                {},
                stream=200,
            )
        },
        "/healthz": {
            "get": {
                "operationId": "healthz", "tags": ["daemon"], "summary": "Liveness check", "security": [{}],
                "responses": {"200": json_response("Alive.", status), **limits},
            }
        },
        "/readyz": {
            "get": {
                "operationId": "readyz", "tags": ["daemon"], "summary": "Readiness check", "security": [{}],
                "responses": {
                    "200": json_response("A worker is warm.", status),
                    "503": json_response("Not yet.", status),
                    **limits,
                },
            }
        },
        "/metrics": {
            "get": {
                "operationId": "metrics", "tags": ["daemon"], "summary": "Prometheus metrics",
                "security": [{}],
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
                "operationId": "docs", "tags": ["daemon"], "summary": "This document as a web page",
                "security": [{}],
                "responses": {"200": {"description": "A page.", "content": html}, **limits},
            }
        },
    }  # fmt: skip
