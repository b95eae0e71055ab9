//! The stream decoder beside that of the crate `sseer`. `cargo run --release -- --bench`

#[path = "../../sse.rs"]
#[allow(dead_code, reason = "its own `main`")]
mod ours;

use std::convert::Infallible;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream;
use sseer::event_stream::EventStream;

/// The reads of a stream that is there at once.
struct Reads {
    rest: Bytes,
    size: usize,
}

impl Stream for Reads {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let size = self.size.min(self.rest.len());
        Poll::Ready((size > 0).then(|| Ok(self.rest.split_to(size))))
    }
}

fn sseer(stream: &[u8], size: usize) -> u32 {
    let mut events = pin!(EventStream::new(Reads { rest: Bytes::copy_from_slice(stream), size }));
    let mut context = Context::from_waker(Waker::noop());
    let mut count = 0;
    while let Poll::Ready(Some(event)) = events.as_mut().poll_next(&mut context) {
        count += u32::from(black_box(event).is_ok());
    }
    count
}

fn main() {
    ours::report(&[("narrows", ours::narrows), ("sseer", sseer), ("copying", ours::copying)]);
}
