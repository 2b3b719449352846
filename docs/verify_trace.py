"""Checks 1, 2 and 5 of FORMAT.md, without a line of `tollbook`: `verify_trace.py FILE [LEDGER'S VKEY]`.

Exit: 0 good, 3 findings, 1 not sealed. Source: RFC 8032 5.1, RFC 6962 2.1, RFC 8785, DSSE v1, signed-note.
"""

import json
import re
import sys
from base64 import b64decode, b64encode
from contextlib import suppress
from hashlib import sha256, sha512
from itertools import accumulate, pairwise
from pathlib import Path

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D, ROOT_OF_MINUS_1 = -121665 * pow(121666, -1, P) % P, pow(2, (P - 1) // 4, P)
ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7  # ±y of the points of order 8
FIELDS = [line.split() for line in ("record body kind prev seq sig v", "part field salt text", "note text",
                                    "blob kind of text", "blob kind of rows tables")]
KINDS = ("open", "decision", "seal", "brief", "turn", "message", "key")  # the last four name a party
MALFORMED = (AttributeError, LookupError, TypeError, ValueError)  # a field is missing, or of another type
canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode  # RFC 8785

def point(key):
    """The point that 32 bytes encode, if any, as (X, Y, Z) with x = X/Z, y = Y/Z."""
    sign, y = divmod(int.from_bytes(key, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * ROOT_OF_MINUS_1 % P
    return (x if x % 2 == sign else P - x, y, 1) if x * x % P == square else None

def add(p, q):
    """The sum of two points: (x₁y₂ + y₁x₂)/(1 + t), (y₁y₂ + x₁x₂)/(1 − t) with t = D·x₁x₂y₁y₂."""
    x, y, z = (one * two % P for one, two in zip(p, q, strict=True))
    t, unit, crossed = D * (x * y % P) % P, z * z % P, ((p[0] + p[1]) * (q[0] + q[1]) - x - y) * z % P
    return crossed * (unit - t) % P, z * (x + y) % P * (unit + t) % P, (unit - t) * (unit + t) % P

def unfit(key):
    """Why a key must not stand for anybody: with one of small order, one signature fits every message."""
    y = int.from_bytes(key, "little") % 2**255
    return "small_order" if y % P in (0, 1, P - 1, ORDER_8, P - ORDER_8) else "not_canonical" * (y >= P)

def verify(key, signature, data):
    """Whether the key is fit, S < L, and R is, byte for byte, the encoding of S·B − h·A."""
    a, b, s = point(key), point(b"X" + b"f" * 31), int.from_bytes(signature[32:], "little")
    if a is None or unfit(key) or s >= L:
        return False
    h = int.from_bytes(sha512(signature[:32] + key + data).digest(), "little") % L
    at, minus_a = (0, 1, 1), (-a[0], a[1], 1)
    sums = at, b, minus_a, add(b, minus_a)
    for bit in range(252, -1, -1):
        at = add(add(at, at), sums[(s >> bit & 1) + (h >> bit & 1) * 2])
    x, y = (part * pow(at[2], -1, P) % P for part in at[:2])
    return (y + (x % 2 << 255)).to_bytes(32, "little") == signature[:32]

def decode64(text, size):
    """The bytes of their only base64 spelling; none if they aren't of this size."""
    data = b64decode(text) if len(text) % 4 == 0 and re.fullmatch("[A-Za-z0-9+/]*={0,2}", text) else b""
    return data if len(data) == size and b64encode(data).decode() == text else b""

def tree(entries):
    """The RFC 6962 tree hash of entries; of one, that is its leaf hash."""
    half = 1 << (len(entries) - 1).bit_length() >> 1  # the largest power of two below their number
    nodes = b"\1" + tree(entries[:half]) + tree(entries[half:]) if entries[1:] else b""
    return sha256(nodes or b"".join(b"\0" + entry for entry in entries)).digest()

def read(form, data):
    """What a line of a form holds, and what is wrong with it: "depth", "form", "spelling" or nothing."""
    try:  # `int` refuses what is written as a fraction, with an exponent, or as NaN
        value = json.loads(data.decode(), parse_float=int, parse_constant=int)
        fields, spelled = [form, *sorted(value.keys())], canonical(value)
        flaw = "form" if fields not in FIELDS else "spelling" * (spelled.encode() != data)
    except (*MALFORMED, RecursionError) as error:
        return {}, "depth" if isinstance(error, RecursionError) else "form"
    brackets = re.sub(r'"(?:[^"\\]|\\.)*"|[^][{}]', "", spelled)
    return value, "depth" if max(accumulate(1 if one in "[{" else -1 for one in brackets)) > 16 else flaw

def chain(lines, run, pin):
    """Check 1 of a run, and the others in their turn: yields (seq, {code: is it wrong?})."""
    notes, state, last = [], ({}, {}, {}), ""
    for form, data, value, flaw in lines:
        seq, (before, _, _, prev) = len(run), run[-1] if run else ("", {}, b"", "0" * 64)
        if form == "record":
            wrong = "size" if len(data) > (65_535 if run else 2**20) else flaw
            if wrong or repr(value["v"]) != "1" or value["kind"] not in KINDS:
                return (yield seq, {f"record.{wrong or 'form'}": True})
            kind, body, last = value["kind"], value["body"], ""
            yield seq, {"record.seq": repr(value["seq"]) != repr(seq), "record.prev": value["prev"] != prev,
                        "grammar.open": (kind == "open") == bool(run), "grammar.after_seal": before == "seal",
                        "grammar.decision": (kind == "decision") != (before == "message"),
                        "grammar.brief": kind == "brief" and before not in ("open", "brief")}
            try:
                yield seq, parties(run, kind, body, value["sig"], *state)
                named = {**(body["action"] if kind == "message" else body if kind in KINDS[3:] else {})}
            except MALFORMED:
                return (yield seq, {"record.form": True})
            run.append((kind, body, data, tree([data]).hex()))
        elif form == "part" and not flaw and not notes and (field := str(value["field"])) > last:
            last, digest = field, sha256(canonical([value["salt"], value["text"]]).encode()).hexdigest()
            orphan = not re.fullmatch("[0-9a-f]{64}", str(named.get(field)))
            yield seq - 1, {"part.orphan": orphan, "part.digest": not orphan and named[field] != digest}
        elif form == "note" and not flaw:
            notes.append(str(value["text"]))
        else:
            return (yield "-", {"bundle.torn" if form == "torn" else "bundle.form": True})
    yield len(run) - 1, {"grammar.decision": run[-1][0] == "message"}
    yield from checkpoint(run, notes, pin)

def parties(run, kind, body, sig, holders, counts, floor):
    """Check 2 of the next record: {code: is it wrong?} of its party, keys, count, sight and signature."""
    seq, named, codes = len(run), body.get("from" if kind == "message" else "party"), {}
    who = {"party": named, "ledger": ()}[body["by"]] if kind == "key" else named if run else ()
    own, changes = [key for key in holders if holders[key] == who], []
    if seq == 0:
        own = [decode64(body["ledger"]["key"], 32)] * bool(body["ledger"]["name"])
        changes = [((), body["ledger"]["key"]), *((one["id"], one["key"]) for one in body["parties"])]
    elif kind in KINDS[3:] and named not in counts:
        codes[{"message": "message.from", "key": "key.unknown"}.get(kind, f"{kind}.party")] = True
    elif kind in ("message", "key"):
        changes, (at, seen) = [(named, body["key"])] * (kind == "key"), body["seen"]
        codes["message.n"] = body["n"] != counts[who]
        codes["message.seen"] = not floor.get(who, 0) <= at < seq or run[at][3] != seen
        counts[who] = body["n"] + 1
    for party, text in changes:
        key, revoked = decode64(text, 32), {"add": False, "revoke": True}[body["change"] if run else "add"]
        again = key in holders or (party in counts and seq == 0)  # a key held by anyone before; a party twice
        bad = "duplicate" * again or "revoke" * (who == () and seq > 0)
        bad = (unfit(key) if key else "form") or ("revoke" * (holders.get(key) != party) if revoked else bad)
        codes |= {f"key.{bad}": True} if bad else {}
        holders |= {} if bad else {key: b"" if revoked else party}
        counts.setdefault(party, 0)
    type_, payload = f"application/vnd.tollbook.{kind}.v1+json", canonical(body).encode()
    pae = b"DSSEv1 %d %b %d %b" % (len(type_), type_.encode(), len(payload), payload)
    signed, raw = kind in ("open", "message", "key"), decode64(sig or "", 64)
    good = any(verify(key, raw, pae) for key in own) if signed else sig is None
    wrong = "unexpected" if not signed else "missing" if sig is None else "invalid" if raw else "form"
    floor |= {named: seq + (kind == "message")} if kind in ("brief", "message") else {}
    return codes if good else {**codes, f"signature.{wrong}" if own or not signed else "key.unknown": True}

def checkpoint(run, notes, pin):
    """Check 5 of a run: whether its root is signed by the ledger's key, and that is the reader's."""
    name, typed = str(run[0][1]["ledger"]["name"]), b"\1" + decode64(run[0][1]["ledger"]["key"], 32)
    ident, root = sha256(f"{name}\n".encode() + typed).digest()[:4], tree([data for _, _, data, _ in run])
    true = {"origin": f"{name}/run/{run[0][3]}", "size": str(len(run)), "root": b64encode(root).decode()}
    points = [note for note in notes if not re.match("tollbook.(environment|receipt)/1\n", note)]
    vkey = f"{name}+{ident.hex()}+{b64encode(typed).decode()}"
    yield "-", {"checkpoint.key": pin not in (None, vkey), "bundle.form": points not in ([], notes[:1]),
                "checkpoint.missing": run[-1][0] == "seal" and not points}
    for note in notes:
        text, _, lines = note.rpartition("\n\n")
        raw = [decode64(one, 68) for one in re.findall(f"(?m)^— {re.escape(name)} (.+)$", lines)]
        own = [one[4:] for one in raw if one[:4] == ident and re.fullmatch("(— [^ +\n]+ [^ \n]+\n)+", lines)]
        good = own and all(verify(typed[1:], one, f"{text}\n".encode()) for one in own)
        yield "-", {f"{'checkpoint' if note in points else 'note'}.signature": not good}
        for (what, expected), told in zip(true.items(), [*text.split("\n", 2), "", ""], strict=False):
            yield "-", {f"checkpoint.{what}": note in points and told != expected}

def name_of(values):
    """The kind and name that a blob's lines give: a task text's SHA-256, or the state root of start rows."""
    with suppress(*MALFORMED):
        if "text" in values[0]:
            return f"task {sha256(values[0]['text'].encode()).hexdigest()}" * (len(values) == 1)
        names = sorted({*values[0]["tables"]})
        rows = [[table, key, {**row}] for value in values for table, key, row in value["rows"]]
        tables = {name: [canonical(row).encode() for row in rows if row[0] == name] for name in names}
        roots = [canonical([name, len(some), tree(some).hex()]).encode() for name, some in tables.items()]
        sound = all(one[:2] < two[:2] for one, two in pairwise(rows)) and {row[0] for row in rows} <= {*names}
        return sound and all(value["tables"] == names for value in values) and f"rows {tree(roots).hex()}"

def audit(data, pin=None):
    """What is found, as (run, seq, code), and for each run whether it is sealed."""
    found, blobs, sections, runs = [], {}, [], {}
    for word, inner, end in re.findall(rb'(?!\Z)(?:\{"(record|part|note|blob)":(.*)\}|.*)(\n|\Z)', data):
        form, (value, flaw) = word.decode() if end else "torn", read(word.decode(), inner)
        if form == "record" and (not sections or sections[-1][-1][0] == "note" or value.get("seq") == 0):
            sections.append([])
        if sections:
            sections[-1].append((form, inner, value, flaw))
        elif form == "blob" and not flaw:
            blobs.setdefault(f"{value['kind']} {value['of']}", []).append(value)
        else:
            found.append(("-", "-", "bundle.torn" if form == "torn" else "bundle.form"))
    found += [("-", "-", "blob.digest") for name, values in blobs.items() if name_of(values) != name]
    for lines in sections:
        run, name = [], tree([lines[0][1]]).hex()
        own = [(name, seq, code) for seq, codes in chain(lines, run, pin) for code in codes if codes[code]]
        found += sorted(own, key=lambda it: (it[1] == "-", it[1], not re.match("record|grammar|part", it[2])))
        runs[name] = run != [] and run[-1][0] == "seal"
    return found, runs

if __name__ == "__main__":
    try:
        found, runs = audit(Path(*(sys.argv[1:2] or ["FILE"])).read_bytes(), *sys.argv[2:3])
    except OSError as error:
        sys.exit(f"error: {error}")
    sys.stdout.writelines(f"finding {run} {seq} {code}\n" for run, seq, code in found)
    anchored = sys.argv[2:] and all(runs.values()) and not found
    print(f"{len(runs)} runs, {len(found)} findings, {'anchored' if anchored else 'unanchored'}")
    sys.exit(3 if found else not all(runs.values()) if runs else "error: the file holds no run")
