//! The stream decoder alone, behind C functions: JavaScript writes a chunk into `room` and calls `feed`.
//!
//! One decoder at a time. `take` gives the events of the last chunk one by one, as a host of its own would want them;
//! without it they are counted, which is what the gateway does with those that it reads itself.

use std::cell::RefCell;

use narrows::sse::Decoder;

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

struct State {
    decoder: Decoder,
    room: Vec<u8>,
    text: String,
    ends: Vec<u32>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State { decoder: fresh(), room: Vec::new(), text: String::new(), ends: Vec::new() });
}

fn fresh() -> Decoder {
    Decoder::new(8 << 20, 64 << 20)
}

fn with<T>(work: impl FnOnce(&mut State) -> T) -> T {
    STATE.with(|state| work(&mut state.borrow_mut()))
}

/// Begins a new stream.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    with(|state| state.decoder = fresh());
}

/// Where the next chunk of that length is to be written.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    with(|state| {
        state.room.resize(length, 0);
        state.room.as_mut_ptr()
    })
}

/// Reads the chunk; how many events it completed.
#[unsafe(no_mangle)]
pub extern "C" fn count() -> usize {
    with(|state| state.decoder.feed(&state.room).filter(Result::is_ok).count())
}

/// Reads the chunk and keeps the data of its events, one after the other; how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn take() -> usize {
    with(|state| {
        state.text.clear();
        state.ends.clear();
        for event in state.decoder.feed(&state.room).flatten() {
            state.text.push_str(&event.data);
            state.ends.push(state.text.len() as u32);
        }
        state.ends.len()
    })
}

/// Where those data stand.
#[unsafe(no_mangle)]
pub extern "C" fn data() -> *const u8 {
    with(|state| state.text.as_ptr())
}

/// Where the ends of the data stand.
#[unsafe(no_mangle)]
pub extern "C" fn ends() -> *const u32 {
    with(|state| state.ends.as_ptr())
}
