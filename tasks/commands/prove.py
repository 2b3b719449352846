"""`tollbook prove`: that a record is in a run, or that a run only grew.

    inclusion     leaf · index · size ─► proof that the root covers it     RFC 9162 2.1.3
    consistency   old size · size     ─► proof that the old run is its beginning     RFC 9162 2.1.4
    checkpoint    the signed note of size and root, to be kept

A proof is checked before it is printed. It convinces who holds a checkpoint
with the same size and root.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import click

from ...protocol.errors import LedgerError, NoteError
from ..console import json_option, print_document
from ..session import Session, pass_session

if TYPE_CHECKING:
    from ...ledger.run import Chain


@click.group(no_args_is_help=False)
def command() -> None:
    """Prove that a record is in a run, or that a run only grew."""


@command.command()
@click.argument("run")
@click.argument("seq", type=click.IntRange(min=0))
@json_option
@pass_session
def inclusion(session: Session, run: str, seq: int, *, as_json: bool) -> None:
    """Prove that record SEQ is in RUN as its checkpoint counts it."""
    from ...protocol.merkle import inclusion_proof, verify_inclusion  # noqa: PLC0415 - the help needs none

    linked, notes = _linked(session, run)
    if seq >= linked.size:
        hint = f"give a number from 0 to {linked.size - 1}"
        raise LedgerError("run.seq", f"run `{linked.id[:12]}` has no record {seq}", hint)
    proof = inclusion_proof(linked.leaves(), seq)
    verify_inclusion(linked.leaf(seq), seq, linked.size, proof, linked.root())
    found = {"seq": seq, "leaf": linked.leaf(seq).hex(), "size": linked.size, "root": linked.root().hex()}
    _print("inclusion", linked, found, proof, notes, as_json=as_json)


@command.command()
@click.argument("run")
@click.argument("old_size", type=click.IntRange(min=1))
@json_option
@pass_session
def consistency(session: Session, run: str, old_size: int, *, as_json: bool) -> None:
    """Prove that the first OLD_SIZE records of RUN are the beginning of all of it."""
    from ...protocol.merkle import consistency_proof, verify_consistency  # noqa: PLC0415 - as above

    linked, notes = _linked(session, run)
    if old_size > linked.size:
        what = f"run `{linked.id[:12]}` has only {linked.size} records, not {old_size}"
        raise LedgerError("run.size", what, f"give a size from 1 to {linked.size}")
    proof = consistency_proof(linked.leaves(), old_size)
    verify_consistency(old_size, linked.root(old_size), linked.size, linked.root(), proof)
    found = {
        "old_size": old_size,
        "old_root": linked.root(old_size).hex(),
        "size": linked.size,
        "root": linked.root().hex(),
    }
    _print("consistency", linked, found, proof, notes, as_json=as_json)


@command.command()
@click.argument("run")
@json_option
@pass_session
def checkpoint(session: Session, run: str, *, as_json: bool) -> None:
    """Print the signed checkpoint of RUN as it is.

    Keep it elsewhere: `tollbook verify --checkpoint FILE` holds the run to it.
    """
    from ..selection import find_run  # noqa: PLC0415 - the help needs none

    with session.store() as store:
        number, run_id = find_run(store, run)
        notes = store.notes(number)
    if not notes:
        what = f"run `{run_id[:12]}` has no checkpoint"
        raise LedgerError("run.open", what, "an open run gets one when it is sealed")
    if as_json:
        print_document("prove", {"kind": "checkpoint", "run": run_id, "checkpoint": notes[0]})
    else:
        click.echo(notes[0], nl=False)


def _linked(session: Session, run: str) -> tuple[Chain, list[str]]:
    from ...ledger.run import Chain  # noqa: PLC0415 - the help needs none
    from ..selection import find_run  # noqa: PLC0415 - as above

    chain = Chain()
    with session.store() as store:
        number, run_id = find_run(store, run)
        for stored in store.records(number):
            chain.link(stored.kind, stored.body, stored.sig)
        notes = store.notes(number)
    if chain.id != run_id or (notes and not _counts(notes[0], chain)):
        what = f"the records of run `{run_id[:12]}` are not those of its id and checkpoint"
        raise LedgerError("run.damaged", what, "see what is wrong: `tollbook verify`")
    return chain, notes


def _counts(note: str, chain: Chain) -> bool:
    """Whether a checkpoint counts these records."""
    from ...ledger.notes import parse_checkpoint, parse_note  # noqa: PLC0415 - the help needs none

    try:
        checkpoint = parse_checkpoint(parse_note(note).text)
    except NoteError:
        return False
    return (checkpoint.size, checkpoint.root) == (chain.size, chain.root())


def _print(  # noqa: PLR0913 - what a proof is made of
    kind: str, linked: Chain, found: dict[str, Any], proof: list[bytes], notes: list[str], *, as_json: bool
) -> None:
    nodes = [b64encode(node).decode() for node in proof]
    checkpoint = notes[0] if notes else None
    head = {"kind": kind, "run": linked.id, **found}
    if as_json:
        print_document("prove", {**head, "proof": nodes, "checkpoint": checkpoint})
        return
    for name, value in head.items():
        click.echo(f"{name}: {value}")
    click.echo("\n  ".join(["proof:", *nodes]))
    if checkpoint is None:
        click.echo("checkpoint: none, the run is open")
    else:
        click.echo(f"checkpoint:\n{checkpoint}", nl=False)
