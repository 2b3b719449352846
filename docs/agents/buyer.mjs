// The same buyer as buyer.py, for Node: opens low, raises evenly, takes the last ask that it can afford.
// Told one line of JSON at a time on stdin; answers each turn with one line on stdout.
import { createInterface } from "node:readline";

let told, rounds, listing;
const asks = [];

function act({ last, inbox }) {
  const heard = inbox.at(-1);
  if (last === null) return { kind: "listing.get", listing: "l1" };
  if (last.kind === "listing.get") {
    listing = last.result.listing[0]; // result: the rows that were shown, by table
    const unit_price = Math.floor((listing.price * 35) / 100); // integers only: amounts are in cents
    return {
      kind: "negotiation.propose", to: listing.merchant,
      listing: "l1", quantity: 1, unit_price, note: "For a study.",
    };
  }
  // An accept, by whichever side, has made an agreement.
  const accepted = [last, heard].find((said) => said?.kind === "negotiation.accept" && said.ok);
  if (accepted) return { kind: "agreement.settle", to: listing.merchant, agreement: accepted.agreement };
  if (heard?.kind !== "negotiation.counter") return null; // refused, or turned down: nothing more to do
  asks.push(heard.unit_price);
  const answer = { to: listing.merchant, negotiation: heard.negotiation };
  if (asks.length < rounds - 1) {
    const unit_price = Math.floor((listing.price * (35 + 5 * asks.length)) / 100);
    return { kind: "negotiation.counter", unit_price, note: "", ...answer };
  }
  if (asks.at(-1) <= told.mandate.budget) return { kind: "negotiation.accept", ...answer };
  return { kind: "negotiation.reject", reason: "Too dear.", ...answer };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { begin, turn } = JSON.parse(line);
  if (begin) {
    told = begin;
    rounds = Number(/at most (\d+) offers/.exec(told.brief)[1]);
  } else {
    const chosen = act(turn);
    console.log(JSON.stringify(chosen ? { act: chosen } : { done: true }));
  }
}
