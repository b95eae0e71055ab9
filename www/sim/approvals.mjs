/**
 * A call that was held until somebody decides, as the gateway's notices tell it.
 *
 * @typedef {object} Approval
 * @property {string} id
 * @property {string} tool
 * @property {string} summary the call in words, without secrets
 * @property {string} digest of the tool and the arguments that it is for
 * @property {number} expires_at on the wall clock, Unix milliseconds
 * @property {{ at: number, state: string, by?: string }[]} life every state it was in
 */

/** Reads the life of approvals from records, as they come. */
export class Approvals {
  /** @type {Map<string, Approval>} */
  approvals = new Map();
  /** decisions that were not taken: when, about which, and why not */
  refusals = [];

  take({ now, output }) {
    if (output?.type !== "notice" || !output.event.startsWith("approval_")) return;
    const { event, fields } = output;
    if (event === "approval_not_decided") {
      this.refusals.push({ at: now, approval: fields.approval, why: fields.refused });
      return;
    }
    const { id, state, tool, summary, arguments_digest: digest, expires_at, decided_by: by } = fields;
    if (event === "approval_proposed") this.approvals.set(id, { id, tool, summary, digest, expires_at, life: [] });
    const approval = this.approvals.get(id);
    if (!approval) return;
    Object.assign(approval, { expires_at });
    if (approval.life.at(-1)?.state !== state) approval.life.push({ at: now, state, ...(by && { by }) });
  }
}
