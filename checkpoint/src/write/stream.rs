//! The thread that writes, and where it writes to.

use std::{
    fs::File,
    io::Write,
    panic,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    thread,
};

use lanecast_files::{Error, Output, Result};

use super::{notes::Notes, paths::make};

/// Bytes of a block. Small tensors share one.
const BLOCK: usize = 1 << 20;
/// Blocks on their way. With the one that is filled and the one that is written, they bound the memory of the channel: 10 MiB.
const BLOCKS: usize = 8;

/// Where shards are written, one after the other. Its methods are called on the thread that writes.
pub(crate) trait Target: Send {
    /// Bytes of a shard that an earlier run wrote, and the notes about them. They are no more than that run marked.
    fn had(&self, _shard: &str) -> (u64, Notes) {
        (0, Notes::default())
    }

    /// Bytes of a shard after which a [`mark`](Self::mark) is worth its time.
    fn mark_every(&self) -> u64 {
        u64::MAX
    }

    /// Starts a shard, of which the first `keep` bytes stay.
    fn begin(&mut self, shard: &str, keep: u64) -> Result<()>;

    /// Writes the next bytes of the shard.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Records that the bytes so far are whole tensors, with the notes about them.
    fn mark(&mut self, _notes: &Notes) -> Result<()> {
        Ok(())
    }

    /// Ends the shard, whose bytes are then on the disk.
    fn end(&mut self, notes: &Notes) -> Result<()>;
}

/// A new file, and the folders above it.
pub(crate) fn new_file(root: &Path, name: &str) -> Result<(File, PathBuf)> {
    let path = make(root, name)?;
    let file = File::create_new(&path).map_err(|e| Error::writing(&e).at_path(&path))?;
    Ok((file, path))
}

/// Files of a folder.
pub(super) struct Folder<'a> {
    root: &'a Path,
    open: Option<(File, PathBuf)>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self { root, open: None }
    }
}

impl Target for Folder<'_> {
    fn begin(&mut self, shard: &str, _keep: u64) -> Result<()> {
        self.open = Some(new_file(self.root, shard)?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Some((file, path)) = &mut self.open else { return Ok(()) };
        file.write_all(bytes).map_err(|e| Error::writing(&e).at_path(path))
    }

    fn end(&mut self, _notes: &Notes) -> Result<()> {
        let Some((file, path)) = self.open.take() else { return Ok(()) };
        file.sync_all().map_err(|e| Error::system("cannot flush to disk", &e).at_path(&path))
    }
}

/// One file, which its owner commits.
pub(super) struct Single<'a> {
    pub(super) output: &'a mut Output,
}

impl Target for Single<'_> {
    fn begin(&mut self, _shard: &str, _keep: u64) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.output.writer().write_all(bytes);
        written.map_err(|e| Error::writing(&e).at_path(self.output.path()))
    }

    fn end(&mut self, _notes: &Notes) -> Result<()> {
        Ok(())
    }
}

/// What the thread is told.
enum Message {
    Begin { shard: String, keep: u64 },
    Bytes(Vec<u8>),
    Mark(Notes),
    End(Notes),
}

/// The end of the channel that takes bytes.
pub(super) struct Stream {
    messages: SyncSender<Message>,
    /// Blocks that were written, to be filled again.
    used: Receiver<Vec<u8>>,
    block: Vec<u8>,
}

impl Stream {
    fn send(&self, message: Message) -> Result<()> {
        // The thread has ended with an error, which takes the place of this one.
        self.messages.send(message).map_err(|_| Error::Cancelled)
    }

    /// Sends what is in the block.
    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut next = self.used.try_recv().unwrap_or_default();
        next.clear();
        let full = std::mem::replace(&mut self.block, next);
        self.send(Message::Bytes(full))
    }

    pub(super) fn begin(&mut self, shard: &str, keep: u64) -> Result<()> {
        self.send(Message::Begin { shard: shard.to_owned(), keep })
    }

    pub(super) fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let n = bytes.len().min(BLOCK - self.block.len());
            self.block.extend_from_slice(&bytes[..n]);
            bytes = &bytes[n..];
            if self.block.len() == BLOCK {
                self.flush()?;
            }
        }
        Ok(())
    }

    pub(super) fn mark(&mut self, notes: &Notes) -> Result<()> {
        self.flush()?;
        self.send(Message::Mark(notes.clone()))
    }

    pub(super) fn end(&mut self, notes: &Notes) -> Result<()> {
        self.flush()?;
        self.send(Message::End(notes.clone()))
    }
}

/// Writes what `produce` puts into the stream while it produces more. An error of the target is returned before one of `produce`.
pub(super) fn overlap<T>(
    target: &mut dyn Target,
    produce: impl FnOnce(&mut Stream) -> Result<T>,
) -> Result<T> {
    thread::scope(|scope| {
        let (messages, received) = sync_channel(BLOCKS);
        let (emptied, used) = channel();
        let writer = scope.spawn(move || write(target, &received, &emptied));
        let mut stream = Stream { messages, used, block: Vec::new() };
        let produced = produce(&mut stream);
        // The thread ends with the channel. A shard without its end stays incomplete.
        drop(stream);
        match writer.join() {
            Ok(written) => written?,
            Err(panicked) => panic::resume_unwind(panicked),
        }
        produced
    })
}

fn write(target: &mut dyn Target, messages: &Receiver<Message>, emptied: &Sender<Vec<u8>>) -> Result<()> {
    for message in messages {
        match message {
            Message::Begin { shard, keep } => target.begin(&shard, keep)?,
            Message::Bytes(bytes) => {
                target.write(&bytes)?;
                // Nobody needs the block once all bytes are produced.
                let _ = emptied.send(bytes);
            }
            Message::Mark(notes) => target.mark(&notes)?,
            Message::End(notes) => target.end(&notes)?,
        }
    }
    Ok(())
}
