//! The program that keeps documents: found, started and asked.

use crate::place::comes_with_latlas;
use crate::{DatabaseFailure, StoreError, give_up};
use std::fmt;
use std::io::BufReader;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store_protocol::url::{UrlParts, scheme_of};
use store_protocol::{Answer, ENTRIES, End, Failure, FailureKind, Item, Request, VERSION};
use sys::programs::{NotFound, find};
use sys::role::{Child, Loss, Lost, Wait};

/// A helper that sends nothing for so long is lost. The one for PostgreSQL gives up a statement after 60 s.
const SILENCE: Duration = Duration::from_secs(90);

/// Helpers that are kept for the next question: each has one connection to its store.
const IDLE: usize = 8;

const LONGEST_URL: usize = 4 << 10;

/// Why a question has no answer.
pub(super) enum Fault {
    NotFound(NotFound),
    /// What the helper says.
    Failed(Failure),
    /// The helper ended, hangs, or sent something else than an answer.
    Lost(Lost),
    /// It speaks another version of the protocol.
    OtherVersion(String),
}

pub(super) struct Helper {
    url: String,
    /// Of the program.
    name: String,
    /// Where the program is, if it is not to be found.
    pub(super) program: Option<PathBuf>,
    pub(super) silence: Duration,
    idle: Mutex<Vec<Conversation>>,
}

impl Helper {
    /// The one for a URL, or why there is none.
    pub(super) fn of(url: &str) -> Result<Helper, &'static str> {
        let (scheme, _) = scheme_of(url)
            .filter(|(_, rest)| rest.is_empty() || rest.starts_with("//"))
            .ok_or("write it as SCHEME://..., such as postgres://USER@HOST:PORT/DATABASE")?;
        if url.len() > LONGEST_URL || url.contains(char::is_control) {
            return Err("the URL is too long, or has a control character");
        }
        let scheme = scheme.to_ascii_lowercase();
        let name = format!("latlas-store-{}", comes_with_latlas(&scheme).unwrap_or(&scheme));
        let (url, idle) = (url.to_owned(), Mutex::default());
        Ok(Helper { url, name, program: None, silence: SILENCE, idle })
    }

    /// Has a conversation: with a helper that waits for the next question, else with a new one.
    pub(super) fn with<T>(
        &self,
        talk: impl FnOnce(&mut Conversation) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut conversation = match self.waiting() {
            Some(conversation) => conversation,
            None => self.open()?,
        };
        let done = talk(&mut conversation);
        if !matches!(done, Err(Fault::Lost(_))) {
            let mut idle = self.idle();
            if idle.len() < IDLE {
                idle.push(conversation);
            }
        }
        done
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Conversation>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that has not ended since its last answer.
    fn waiting(&self) -> Option<Conversation> {
        loop {
            let mut conversation = self.idle().pop()?;
            if conversation.child.check_running().is_ok() {
                return Some(conversation);
            }
        }
    }

    fn open(&self) -> Result<Conversation, Fault> {
        let program = match &self.program {
            Some(program) => program.clone(),
            None => find(&self.name).map_err(Fault::NotFound)?,
        };
        let child = Child::start_program(&self.name, &program).map_err(Fault::Lost)?;
        let mut conversation = Conversation { child, silence: self.silence, keeps_entries: false };
        let answer =
            conversation.answer(&Request::Open { version: VERSION, url: self.url.clone() })?;
        match answer.end {
            End::Error(failure) => Err(Fault::Failed(failure)),
            End::Ok(words) if words.first().is_some_and(|word| *word == VERSION.to_string()) => {
                conversation.keeps_entries = words.iter().any(|word| word == ENTRIES);
                Ok(conversation)
            }
            End::Ok(words) => Err(Fault::OtherVersion(words.first().cloned().unwrap_or_default())),
            End::Exists | End::None => Err(conversation.strange()),
        }
    }

    /// In words, of the store at this place.
    pub(super) fn error(&self, place: &str, fault: Fault) -> StoreError {
        use DatabaseFailure as To;
        let place = place.to_owned();
        let settings = |why: String| StoreError::Settings { place: place.clone(), why };
        let failure = match fault {
            Fault::NotFound(why @ NotFound::Missing(_)) => {
                return settings(match comes_with_latlas(self.scheme()) {
                    Some(_) => format!("{why}: install the package {}", self.name),
                    None => format!("{why} (`latlas help store-protocol` says what it has to do)"),
                });
            }
            Fault::NotFound(why) => return settings(why.to_string()),
            Fault::OtherVersion(theirs) => {
                return settings(format!(
                    "{} speaks version {theirs} of the protocol, and this latlas version {VERSION}: install both \
                     from one release",
                    self.name
                ));
            }
            Fault::Lost(lost @ Lost { how: Loss::NotStarted(_), .. }) => {
                To::Unreachable(lost.to_string())
            }
            Fault::Lost(lost) => To::WentAway(lost.to_string()),
            Fault::Failed(Failure { kind, message }) => {
                let message = self.without_password(message);
                match kind {
                    FailureKind::Settings => return settings(message),
                    FailureKind::Unreachable => To::Unreachable(message),
                    FailureKind::WentAway => To::WentAway(message),
                    FailureKind::Newer => To::Newer(message),
                    FailureKind::Refused => To::Refused(message),
                    FailureKind::Damaged => To::Damaged(message),
                }
            }
        };
        StoreError::Database { place, failure }
    }

    fn scheme(&self) -> &str {
        scheme_of(&self.url).map_or("", |(scheme, _)| scheme)
    }

    /// What a helper says, where it repeats the password that it was given.
    fn without_password(&self, message: String) -> String {
        match UrlParts::split(&self.url).map_or("", |parts| parts.password) {
            "" => message,
            password => message.replace(password, "..."),
        }
    }
}

impl fmt::Debug for Helper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Helper").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One helper, with a store opened.
pub(super) struct Conversation {
    child: Child,
    silence: Duration,
    pub(super) keeps_entries: bool,
}

impl Conversation {
    /// Asks; what was asked for, and whether a change was made.
    pub(super) fn ask<T>(
        &mut self,
        request: &Request,
        item: impl Fn(Item) -> Option<T>,
    ) -> Result<(Vec<T>, bool), Fault> {
        let Answer { items, end } = self.answer(request)?;
        let is_done = match (end, request) {
            (End::Error(failure), _) => return Err(Fault::Failed(failure)),
            (End::Ok(_), _) => true,
            (End::Exists, Request::Put(_) | Request::CreateTag(_))
            | (End::None, Request::Delete { .. } | Request::DeleteTag { .. }) => false,
            (End::Exists | End::None, _) => return Err(self.strange()),
        };
        let items: Option<Vec<T>> = items.into_iter().map(item).collect();
        Ok((items.ok_or_else(|| self.strange())?, is_done))
    }

    fn answer(&mut self, request: &Request) -> Result<Answer, Fault> {
        let wait = match give_up::flag() {
            Some(stop) => Wait { stop, ..Wait::at_most(self.silence) },
            None => Wait::at_most(self.silence),
        };
        let sent = self.child.send_bytes(&request.to_bytes());
        let read = sent.and_then(|()| {
            self.child.read_pieces(wait, |from| {
                let mut from = BufReader::new(from);
                let answer = Answer::read(&mut from)?;
                match from.buffer() {
                    [] => Ok(answer),
                    _ => Err(std::io::Error::other("it sent more than an answer")),
                }
            })
        });
        read.map_err(Fault::Lost)
    }

    /// It answered another question than was asked.
    pub(super) fn strange(&self) -> Fault {
        let how = std::io::Error::other("it sent an answer to another request");
        Fault::Lost(Lost { who: self.child.who.clone(), how: how.into() })
    }
}
