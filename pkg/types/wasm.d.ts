/** What a bundler or a worker makes of the wasm file: its address, its bytes, or the compiled module. All of them load. */
declare const wasm: any;
export default wasm;
