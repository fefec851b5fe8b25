"""Worker processes that solve decisions, and the dispatcher that assigns decisions to them.

`dispatcher.Dispatcher` answers every decision in time. `crew` keeps the workers running; `worker_process` and
`messages` communicate with them. `fallback` answers if no worker does. A worker runs `worker`, and
`answers.AgentAnswerer` asks the agent. `agent_pool.make_pool` makes a pool.

Imports `telemetry` and `config`.
"""
