"""Runs played by parties outside, over HTTP: the host, and what an agent's author needs.

Only `app` and `server` know Starlette and uvicorn, which are the extra `serve`;
`client` needs neither.
"""
