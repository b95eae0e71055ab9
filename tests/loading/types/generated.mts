// The types made from the Rust source and the ones written by hand describe the same class.
import * as generated from "../../../../pkg/dist/narrows.js";
import * as written from "narrows";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

export const core: Same<generated.Core, written.Core> = true;
export const newCore: Same<ConstructorParameters<typeof generated.Core>, ConstructorParameters<typeof written.Core>> = true;
export const oldCore: Same<Parameters<typeof generated.Core.restore>, Parameters<typeof written.Core.restore>> = true;
