"""Checks a trace with nothing but Python: bytes and chain (1), parties and signatures (2), checkpoint (5).

    python verify_trace.py FILE [--key VKEY] [--json]

Written from FORMAT.md, which explains each code; shares no code with `tollbook`. Not here: whether decisions
and scores follow from a market's rules. Exit status: 0 no finding, 3 findings, 1 nothing to check, 2 usage.

Source: RFC 8032 5.1, RFC 6962 2.1, RFC 8785, DSSE v1 (PAE), C2SP signed-note.
"""

from __future__ import annotations

import argparse
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256, sha512
from itertools import accumulate
from pathlib import Path
from typing import Any

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT_OF_MINUS_1 = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7  # ±y of the points of order 8
OTHER_NOTES = ("tollbook.environment/1", "tollbook.receipt/1")
AREAS = {
    "1": ("record", "grammar", "part", "bundle", "blob"),
    "2": ("key", "message", "brief", "turn", "signature"),
    "5": ("checkpoint", "note"),
}
Json = Any
Point = tuple[int, int, int, int]
Pin = tuple[str, bytes] | None
Found = list[tuple[int | None, str, str]]  # seq, code, text
Record = tuple[str, Json, str | None, bytes]  # kind, body, sig, leaf
Line = tuple[int, str, bytes, Json, str]  # number, form, data, value, what is wrong

# Canonical JSON has one spelling, so a form is a pattern. String, Text, Id, Row key, Hex, X a salt, Key,
# G a signature, Ledger's name, Number, Count below 2^31; {…} and […] are any object and list.
FORMS = {
    "S": r'"[^"\\]*(?:\\.[^"\\]*)*"', "T": r'"(?:[^"\\]|\\u....|\\[^u]){0,2000}"', "N": "-?[0-9]+",
    "I": r'"(?:[!#-\[\]-~]|\\["\\]){1,128}"', "R": r'"(?:[ !#-\[\]-~]|\\["\\]){1,128}"',
    "H": '"[0-9a-f]{64}"', "X": '"[0-9a-f]{32}"', "K": r'"[^"\\]{44}"', "G": r'"[^"\\]{0,88}"',
    "L": '"[a-z0-9][a-z0-9._/-]{0,63}"',
    "C": "(?:[0-9]{1,9}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7]"
         "[0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7])",
}
for _name, _form in re.findall("(.+) (.+)", r"""
open {"catalog":null,"facts":H,"ledger":{"key":K,"name":L},"nonce":H,"origin":{"custody":"(played|imported)",\
"source":(null|{"digest":H,"form":I,"index":C,"name":T})},"parent":null,"parties":[({"agent":{"model":T,\
"name":T,"settings":{(S:T,?)*},"version":T},"id":I,"key":K,"role":I},?)+],"seed":H,"task":(null|{"case":I,\
"digest":H,"id":I}),"trial":C,"world":{"name":I,"params":{(S:(null|true|false|N|S),?)*},"version":C}}
brief {"part":H,"party":I}
message {"action":{…},"from":I,"key":(null|I),"n":C,"reply_to":(null|C),"seen":[C,S],"to":(null|I)}
decision {"delta":H,"detail":{(S:(null|true|false|N|S|[(S,?)*]),?)*},"events":[…],"message":C,\
"outcome":"(accepted|refused)","reads":[([S,S],?)*],"result":(null|H),"rule":(null|S)}
turn {"gave":(null|H),"given":(null|H),"n":(null|C),"party":I,"usage":(null|{"cost_micros":(null|C),\
"input_tokens":(null|C),"output_tokens":(null|C)})}
key {"by":"(party|ledger)","change":"(add|revoke)","key":K,"n":C,"party":I,"seen":[C,H]}
seal {"outcome":"(completed|turn_limit|agent_stopped|agent_failed|abandoned|imported)","root":H,"rows":C}
record {"body":{…},"kind":"(open|brief|message|decision|turn|key|seal)","prev":H,"seq":C,\
"sig":(null|G),"v":1}
part {"field":S,"salt":X,"text":S}
note {"text":S}
blob {"kind":("task","of":H,"text":S|"rows","of":H,"rows":[…],"tables":[(S,?)+])}
row [S,R,{…}]
any {…}""".replace("\\\n", "")):
    _form = re.sub(r"([][{}])", r"\\\1", _form.replace("(", "(?:"))
    _form = re.sub(r"\\.…\\.", r"(\g<0>)", _form).replace("…", ".*")
    FORMS[_name] = re.sub("[A-Z]", lambda found: FORMS[found[0]], _form)


def point(key: bytes) -> Point | None:
    """The point that 32 bytes encode, if any, as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z."""
    sign, y = divmod(int.from_bytes(key, "little"), 2**255)
    u, v = y * y - 1, D * y * y + 1
    x = u * v**3 * pow(u * v**7, (P - 5) // 8, P) % P
    x = x if (v * x * x - u) % P == 0 else x * ROOT_OF_MINUS_1 % P
    x = x if x % 2 == sign else P - x
    return (x, y, 1, x * y % P) if (v * x * x - u) % P == 0 else None


def add(p: Point, q: Point) -> Point:
    """The sum of two points, the same or not (RFC 8032 5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]), (p[1] + p[0]) * (q[1] + q[0])
    c, d = 2 * D * p[3] % P * q[3], 2 * p[2] * q[2]
    e, f, g, h = (b - a) % P, (d - c) % P, (d + c) % P, (b + a) % P
    return e * f % P, g * h % P, f * g % P, e * h % P


def unfit(key: bytes) -> str:
    """Why a key must not stand for anybody: with one of small order, one signature fits every message."""
    y = int.from_bytes(key, "little") % 2**255
    if y % P in (0, 1, P - 1, ORDER_8, P - ORDER_8):
        return "small_order"
    return "not_canonical" if y >= P else ""


def verify(key: bytes, signature: bytes, data: bytes) -> bool:
    """Whether the key is fit, S < L, and R is, byte for byte, the encoding of S·B − h·A."""
    a, b, s = point(key), point(b"X" + b"f" * 31), int.from_bytes(signature[32:], "little")
    if a is None or unfit(key) or s >= L:
        return False
    h = int.from_bytes(sha512(signature[:32] + key + data).digest(), "little") % L
    minus_a, at = (P - a[0], a[1], 1, P - a[3]), (0, 1, 1, 0)
    table = [at, b, minus_a, add(b, minus_a)]
    for bit in range(252, -1, -1):
        at = add(add(at, at), table[(s >> bit & 1) + (h >> bit & 1) * 2])
    x, y = (part * pow(at[2], -1, P) % P for part in at[:2])
    return (y + (x % 2 << 255)).to_bytes(32, "little") == signature[:32]


def decode64(text: str | None, size: int) -> bytes:
    """The bytes of their only base64 spelling; none if they aren't of this size."""
    spelled = re.fullmatch("([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}[A-Za-z0-9+/=]=)?", text or "")
    data = b64decode(spelled[0]) if spelled else b""
    return data if len(data) == size and b64encode(data).decode() == text else b""


def key_id(name: str, key: bytes) -> bytes:
    """The four bytes that stand for a ledger's key in its notes."""
    return sha256(name.encode() + b"\n\1" + key).digest()[:4]


def leaf(data: bytes) -> bytes:
    """The RFC 6962 leaf hash."""
    return sha256(b"\0" + data).digest()


def tree(level: list[bytes]) -> bytes:
    """The RFC 6962 root of leaf hashes: pairs from the left; an odd last one goes up as it is."""
    while len(level) > 1:
        pairs = (level[i : i + 2] for i in range(0, len(level), 2))
        level = [sha256(b"\1" + b"".join(pair)).digest() if pair[1:] else pair[0] for pair in pairs]
    return level[0] if level else sha256().digest()


def canonical(value: Json) -> bytes:
    """The one spelling of a JSON value (RFC 8785)."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def narrow(value: Json) -> bool:
    """Whether keys are ASCII, lists have 10,000 elements at most, and integers lie within ±(2^53−1)."""
    if isinstance(value, dict):
        return all(key.isascii() and narrow(one) for key, one in value.items())
    if isinstance(value, list):
        return len(value) <= 10_000 and all(map(narrow, value))
    return not isinstance(value, int) or abs(value) < 2**53


def read(data: bytes, form: str) -> tuple[Json, str]:
    """The JSON value of bytes, and what is wrong with them: "depth", "form", "spelling" or nothing."""
    try:  # `int` refuses what is written as a fraction, with an exponent, or as NaN
        value = json.loads(data.decode(), parse_float=int, parse_constant=int)
        spelled = canonical(value).decode()
        brackets = re.sub(r"[^][{}]", "", re.sub(FORMS["S"], "", spelled))
        if max(accumulate(1 if one in "[{" else -1 for one in brackets), default=0) > 16:
            return None, "depth"
        match = re.fullmatch(FORMS[form], spelled, re.DOTALL)
        apart = [json.loads(one) for one in match.groups() if one] if match and narrow(value) else [None]
        told = apart[0] if form == "decision" else apart if form == "message" else []
        if None in apart or any(read(canonical(one["kind"]), "I")[1] for one in told):
            return None, "form"
    except RecursionError:
        return None, "depth"
    except (ValueError, KeyError, TypeError):
        return None, "form"
    return value, "" if spelled == data.decode() else "spelling"


def chain(lines: list[Line]) -> tuple[list[Record], list[str], Found, bool]:
    """Check 1 of a run: its records, its notes, its findings, and whether all of it was read."""
    run, notes, found, fields, last = [], [], [], {}, ""
    for number, form, data, value, defect in lines:
        wrong = defect
        seq, (before, _, _, prev) = len(run), run[-1] if run else ("", {}, None, bytes(32))
        if form == "record":
            kind, body = (value["kind"], value["body"]) if value else ("any", {})
            over = len(data) > (65_535 if run else 2**20)
            wrong = "size" if over else read(canonical(body), kind)[1] or defect
            codes = {f"record.{wrong}": True} if wrong else {
                "record.seq": value["seq"] != seq, "record.prev": value["prev"] != prev.hex(),
                "grammar.open": (kind == "open") != (seq == 0), "grammar.after_seal": before == "seal",
                "grammar.decision": (kind == "decision") != (before == "message"),
                "grammar.brief": kind == "brief" and before not in ("open", "brief")}
            run += [] if wrong else [(kind, body, value["sig"], leaf(data))]
            told = body["action"] if kind == "message" and not wrong else body
            named = told.items() if kind in ("brief", "message", "turn") else ()
            fields, last = {name: one for name, one in named if re.fullmatch("[0-9a-f]{64}", str(one))}, ""
        elif form == "part" and not wrong and run and not notes and value["field"] > last:
            seq, last, salted = seq - 1, value["field"], [value["salt"], value["text"]]
            codes = {"part.orphan": last not in fields, "part.size": len(salted[1].encode()) > 2**20,
                     "part.digest": last in fields and fields[last] != sha256(canonical(salted)).hexdigest()}
        elif form == "note" and not wrong and run:
            notes, codes = [*notes, value["text"]], {}
        else:
            seq, wrong, codes = None, "form", {"bundle.torn": form == "torn", "bundle.form": form != "torn"}
        found += [(seq, code, f"line {number}") for code, holds in codes.items() if holds]
        if wrong or run[0][0] != "open":
            return run, notes, found, False
    cut = [(len(run) - 1, "grammar.decision", "the run ends after a message")]
    return run, notes, found + cut * (run[-1][0] == "message"), True


def parties(run: list[Record]) -> Found:
    """Check 2 of a run: whom its records name, their keys, counts and signatures, and what they saw."""
    found, keys, held, counts, floor = [], {}, set(), {}, {}
    for seq, (kind, body, sig, _) in enumerate(run):
        named, change = body.get("from", body.get("party")), body.get("change")
        who = "" if seq == 0 or body.get("by") == "ledger" else named  # the ledger has no id
        cast = [("", body["ledger"]["key"])] if seq == 0 else []
        cast += [(one["id"], one["key"]) for one in body["parties"]] if seq == 0 else []
        signers = [decode64(text, 32) for _, text in cast[:1]] or [*keys.get(who, [])]
        codes = ["key.duplicate"] * (len(dict(cast)) < len(cast))
        keys |= {party: [] for party, _ in cast}
        for party, text in cast + [(named, body.get("key"))] * (kind == "key" and named in keys):
            key = decode64(text, 32)
            bad = unfit(key) if key else "form"
            if change == "revoke":
                bad = bad or "revoke" * (key not in keys[party])
                keys[party] = [one for one in keys[party] if one != key]
            else:
                bad = bad or ("duplicate" if key in held else "revoke" * (change == "add" and not who))
                keys[party] += [] if bad else [key]
                held.add(key)
            codes.append(f"key.{bad}" if bad else "")
        if named is not None and named not in keys:
            codes.append({"message": "message.from", "key": "key.unknown"}.get(kind, f"{kind}.party"))
        elif kind in ("message", "key"):
            codes.append("message.n" * (body["n"] != counts.get(who, 0)))
            at, seen = body["seen"]
            codes.append("message.seen" * (not floor.get(who, 0) <= at < seq or run[at][3].hex() != seen))
            counts[who] = body["n"] + 1
        if kind in ("message", "key") or seq == 0:
            type_, payload = f"application/vnd.tollbook.{kind}.v1+json", canonical(body)
            pae = b"DSSEv1 %d %b %d %b" % (len(type_), type_.encode(), len(payload), payload)
            raw = decode64(sig, 64)
            good = raw and any(key and verify(key, raw, pae) for key in signers)
            wrong = "missing" if sig is None else "form" if not raw else "" if good else "invalid"
            codes.append("key.unknown" if sig and not signers else f"signature.{wrong}" if wrong else "")
        else:
            codes.append("signature.unexpected" * (sig is not None))
        told = named if kind == "brief" else run[seq - 1][1].get("from") if kind == "decision" else None
        floor |= {told: seq} if told else {}
        found += [(seq, code, kind) for code in codes if code]
    return found


def checkpoint(run: list[Record], notes: list[str], pin: Pin) -> tuple[Found, bool]:
    """Check 5 of a run: its findings, and whether there is a checkpoint that holds."""
    name, key = run[0][1]["ledger"]["name"], decode64(run[0][1]["ledger"]["key"], 32)
    root, holds = tree([one[3] for one in run]), False
    found = [(None, "checkpoint.key", "another key is pinned")] * (pin not in (None, (name, key)))
    if run[-1][0] == "seal" and (not notes or notes[0].split("\n")[0] in OTHER_NOTES):
        found.append((None, "checkpoint.missing", "the run is sealed"))
    for place, note in enumerate(notes):
        text, _, lines = note.rpartition("\n\n")
        head, (_, size, rest) = note.split("\n")[0], [*text.split("\n", 2), "", ""][:3]
        signed = re.fullmatch("(\N{EM DASH} [^ +\n]+ [^ \n]+\n)+", lines)
        named = re.findall("^. (.+) (.+)$", lines, re.MULTILINE)
        raw = [decode64(one, 68) for by, one in named if by == name]
        own = [one[4:] for one in raw if one[:4] == key_id(name, key)]
        good = signed and own and all(key and verify(key, one, f"{text}\n".encode()) for one in own)
        if head in OTHER_NOTES:
            value, wrong = read(text[len(head) + 1 :].encode(), "any")
            codes = {"note.signature": not good, "note.form": wrong,
                     "note.root": not wrong and value.get("root") != root.hex()}
        else:
            codes = {"bundle.form": place > 0, "checkpoint.signature": not good,
                     "checkpoint.origin": head != f"{name}/run/{run[0][3].hex()}",
                     "checkpoint.size": size != str(len(run)),
                     "checkpoint.root": rest != b64encode(root).decode()}
            holds |= not any(codes.values())
        found += [(None, code, f"note {place + 1}") for code, broken in codes.items() if broken]
    return found, holds and not found


def is_named(kind: str, of: str, values: list[Json]) -> bool:
    """Whether a blob's lines give its name: the SHA-256 of a task's text, the state root of start rows."""
    if kind == "task":
        text = values[0]["text"].encode()
        return len(values) == 1 and len(text) <= 2**20 and sha256(text).hexdigest() == of
    rows, tables = [row for value in values for row in value["rows"]], values[0]["tables"]
    if any(value["tables"] != tables for value in values):
        return False
    if any(read(canonical(row), "row")[1] for row in rows):
        return False
    places, leaves = [(table, key) for table, key, _ in rows], {table: [] for table in tables}
    if places != sorted(set(places)) or tables != sorted(leaves) or any(row[0] not in leaves for row in rows):
        return False
    for row in rows:
        leaves[row[0]].append(leaf(canonical(row)))
    roots = [leaf(canonical([name, len(one), tree(one).hex()])) for name, one in leaves.items()]
    return tree(roots).hex() == of


def judge(lines: list[Line], pin: Pin) -> Json:
    """One run's checks and findings."""
    run, notes, found, whole = chain(lines)
    found += parties(run) if run and run[0][0] == "open" else []
    more, holds = checkpoint(run, notes, pin) if whole else ([], False)
    found = sorted(found + more, key=lambda one: (one[0] is None, one[0]))
    areas = {code.partition(".")[0] for _, code, _ in found}
    done = {check: whole and (check != "5" or bool(notes)) for check in AREAS}
    return {
        "run": leaf(lines[0][2]).hex(),
        "records": len(run),
        "sealed": whole and run[-1][0] == "seal",
        "checks": {
            check: "failed" if areas & {*some} else "done" if done[check] else "not done"
            for check, some in AREAS.items()
        },
        "anchored": bool(pin and holds),
        "findings": found,
    }


def sections(data: bytes) -> list[list[Line]]:
    """A bundle's lines: those before the first record, then those of each run."""
    *whole, rest = data.split(b"\n")
    found, form = [[]], ""
    for number, line in enumerate(whole, 1):
        before, match = form, re.fullmatch(rb'\{"(blob|record|part|note)":(.*)\}', line, re.DOTALL)
        form, inner = (match[1].decode(), match[2]) if match else ("", b"")
        value, wrong = read(inner, form) if match else (None, "form")
        if form == "record" and (not found[1:] or before == "note" or (value and value["seq"] == 0)):
            found.append([])
        found[-1].append((number, form, inner, value, wrong))
    if rest:
        found[-1].append((len(whole) + 1, "torn", b"", None, "form"))
    return found


def audit(data: bytes, pin: Pin = None) -> tuple[Found, list[Json]]:
    """The findings of a file's blobs, and each run's checks and findings."""
    first, *rest = sections(data)
    found, blobs, last = [], {}, None
    for number, form, _, value, wrong in first:
        key = (value["kind"], value["of"]) if form == "blob" and not wrong else None
        if not key or (key in blobs and key != last) or len(value.get("rows", [])) > 1_000:
            found.append((None, "bundle.torn" if form == "torn" else "bundle.form", f"line {number}"))
        else:
            blobs.setdefault(key, []).append(value)
        last = key or last
    found += [(None, "blob.digest", " ".join(key)) for key, some in blobs.items() if not is_named(*key, some)]
    runs = {}
    for lines in rest:
        run = judge(lines, pin)
        if runs.setdefault(run["run"], run) is not run:
            found.append((None, "bundle.form", f"line {lines[0][0]}: the run is given twice"))
    return found, list(runs.values())


def main() -> None:
    """Prints each run's checks, then the findings; or all of it as one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", metavar="VKEY", help="the ledger's verifier key, from where you trust it")
    parser.add_argument("--json", action="store_true")
    given, pin = parser.parse_args(), None
    if given.key is not None:  # base64 may hold `+` too, so only the first two of them separate
        name, ident, key = [*given.key.split("+", 2), "", ""][:3]
        pin = (name, decode64(key, 33)[1:])
        if decode64(key, 33)[:1] != b"\1" or ident != key_id(*pin).hex():
            parser.error("--key is not a verifier key: name+key id+base64")
    try:
        found, runs = audit(given.file.read_bytes(), pin)
    except OSError as error:
        parser.exit(1, f"error: the file can't be read: {error.strerror}\n")
    if not found and not runs:
        parser.exit(1, "error: the file holds no run\n")
    found = [(None, *one) for one in found]
    found += [(run["run"], *one) for run in runs for one in run.pop("findings")]
    if given.json:
        named = [dict(zip(("run", "seq", "code", "text"), one, strict=True)) for one in found]
        print(json.dumps({"schema": "tollbook.verify_trace/1", "findings": named, "runs": runs}))
        parser.exit(3 if found else 0)
    for run in runs:
        state = f"{'sealed' if run['sealed'] else 'open'}, {'anchored' if run['anchored'] else 'unanchored'}"
        checks = ", ".join(f"{check} {outcome}" for check, outcome in run["checks"].items())
        print(f"run {run['run']}: {run['records']} records, {state}; checks {checks}")
    for one in found:
        print("finding", *("-" if part is None else part for part in one))
    parser.exit(3 if found else 0)


if __name__ == "__main__":
    main()
