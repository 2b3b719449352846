"""`tollbook key`: the key a ledger signs with, which others pin.

    secret  →  Ed25519 key  →  vkey = name + key id + public key

The vkey is one line; who holds it can tell this ledger's checkpoints and
receipts from anybody else's (`verify --key FILE`). The secret itself is never printed.
"""

from __future__ import annotations

import click

from ...ledger.notes import print_vkey, vkey_of
from ...ledger.secret import make_secret
from ...protocol.derive import ledger_key
from ...protocol.keys import key_text
from ..console import json_option, print_document
from ..session import Session, pass_session


@click.group(no_args_is_help=False)
def command() -> None:
    """Make or show the key that the ledger signs with."""


@command.command()
@json_option
@pass_session
def show(session: Session, *, as_json: bool) -> None:
    """Print the ledger's public key as a vkey, the line by which others pin it."""
    _print_key(session.name, session.secret(), as_json=as_json)


@command.command()
@json_option
@pass_session
def new(session: Session, *, as_json: bool) -> None:
    """Make a new secret file, never over an existing one, and print its vkey."""
    _print_key(session.name, make_secret(session.secret_path), as_json=as_json)


def _print_key(name: str, secret: bytes, *, as_json: bool) -> None:
    public = ledger_key(secret).public
    vkey = print_vkey(vkey_of(name, public))
    if as_json:
        print_document("key", {"name": name, "vkey": vkey, "key": key_text(public)})
    else:
        click.echo(vkey)
