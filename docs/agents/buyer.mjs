// The buyer of buyer.py, for Node: opens low, raises evenly, takes the last ask if it can afford it.
// Told one line of JSON at a time on stdin; answers each turn with one line on stdout.
import { createInterface } from "node:readline";

let told, rounds, listing;
const asks = [];

// What to do next: `last` is the act before with what became of it, `heard` what the merchant said since.
function act(last, heard) {
  if (last === null) return { kind: "listing.get", listing: "l1" };
  if (last.kind === "listing.get") {
    listing = last.result.listing[0]; // a result holds the rows shown, by table
    return { kind: "negotiation.propose", listing: "l1", quantity: 1, ...offer(), to: listing.merchant };
  }
  // An accept, by either side, has made an agreement.
  const accepted = [last, heard].find((said) => said?.kind === "negotiation.accept" && said.ok);
  if (accepted) return { kind: "agreement.settle", agreement: accepted.agreement, to: listing.merchant };
  if (heard?.kind !== "negotiation.counter") return null; // refused, or turned down: nothing is left to do
  asks.push(heard.unit_price);
  const answer = { negotiation: heard.negotiation, to: listing.merchant };
  if (asks.length < rounds - 1) return { kind: "negotiation.counter", ...offer(), ...answer };
  if (asks.at(-1) <= told.mandate.budget) return { kind: "negotiation.accept", ...answer };
  return { kind: "negotiation.reject", reason: "Too dear.", ...answer };
}

// 35 % of the list price at first, and 5 % more for each ask heard; whole cents, never a fraction.
function offer() {
  return { unit_price: Math.floor((listing.price * (35 + 5 * asks.length)) / 100), note: "" };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { begin, turn } = JSON.parse(line);
  if (begin) {
    told = begin;
    rounds = Number(/at most (\d+) offers/.exec(told.brief)[1]);
  } else {
    const chosen = act(turn.last, turn.inbox.at(-1));
    console.log(JSON.stringify(chosen ? { act: chosen } : { done: true }));
  }
}
