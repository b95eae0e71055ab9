import { attribute, h } from "./dom.mjs";

/** A field for an amount: whole, and of something. @param {string} id @param {string} [value] */
export function amountInput(id, value = "") {
  const input = h("input", { type: "number", id, min: "1", step: "1", value });
  input.addEventListener("input", () => attribute(input, "aria-invalid", undefined));
  return input;
}

/** The amount in a field. Where there is none, the field says so and takes the focus. */
export function amountOf(input) {
  const amount = Number(input.value);
  const isAmount = Number.isInteger(amount) && amount > 0;
  attribute(input, "aria-invalid", isAmount ? undefined : "true");
  if (isAmount) return amount;
  input.focus();
  return undefined;
}
