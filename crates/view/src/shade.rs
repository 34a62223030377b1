//! How what a thread does is drawn: one name, one mark and one colour, in a terminal, in pictures
//! and on the page of a trace. Colours of states are those of Instruments: blue runs, red waits for
//! a CPU, orange is preempted, grey is blocked.

use model::trace::StateKind;

/// How one thing is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shade {
    /// What a legend calls it.
    pub name: &'static str,
    /// In a line of characters.
    pub mark: char,
    /// The share of a lane's height: what does not run is thinner.
    pub height: f64,
    /// On white, in the dark, and as CSS of a page that includes [`variables`].
    pub colours: [&'static str; 3],
    /// Of the 256 colours of a terminal, on whatever ground: between the first two.
    pub terminal: u8,
    /// Two rails with nothing between, where its height is that of another state.
    pub rails: bool,
    /// What fills half of it: the other state, where a record leaves two possible.
    pub half: Half,
}

/// What fills half of a shade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Half {
    /// The same colour.
    Same,
    /// Nothing: no record says what was there.
    Ground,
    /// The colour of this state.
    Of(StateKind),
}

const RUNNING: [&str; 3] = ["#06306a", "#d6f1ff", "var(--running)"];
const RUNNABLE: [&str; 3] = ["#b8101c", "#ce1830", "var(--runnable)"];
const PREEMPTED: [&str; 3] = ["#cc7a00", "#cf6e0a", "var(--preempted)"];
const YIELDED: [&str; 3] = ["#96773c", "#dddddd", "var(--yielded)"];
const STOPPED: [&str; 3] = ["#713e00", "#cc79a7", "var(--stopped)"];
const LOST: [&str; 3] = ["#b25491", "#f6e947", "var(--lost)"];
const UNKNOWN: [&str; 3] = ["#5a5f66", "#a6adb7", "var(--unknown)"];
const BLOCKED: [&str; 3] = ["#8a8f97", "#7d838c", "var(--blocked)"];

/// System calls.
pub(crate) const CALL: Shade = Shade {
    name: "system call",
    mark: 'c',
    height: 1.0,
    colours: ["#00634f", "#00c389", "var(--call)"],
    terminal: 36,
    rails: false,
    half: Half::Same,
};

/// Operations on memory.
pub(crate) const MEMORY: Shade = Shade {
    name: "memory operation",
    mark: 'm',
    height: 1.0,
    colours: ["#3391ca", "#3e86d9", "var(--memory)"],
    terminal: 74,
    rails: false,
    half: Half::Same,
};

/// How a state is drawn.
pub(crate) const fn state_shade(kind: StateKind) -> Shade {
    let (mark, height, colours, terminal, half) = match kind {
        StateKind::Running => ('█', 1.0, RUNNING, 32, Half::Same),
        StateKind::Runnable => ('▒', 0.6, RUNNABLE, 160, Half::Same),
        StateKind::Preempted => ('!', 0.6, PREEMPTED, 172, Half::Same),
        StateKind::Yielded => ('!', 0.6, YIELDED, 137, Half::Same),
        StateKind::PreemptedOrYielded => ('!', 0.6, PREEMPTED, 172, Half::Of(StateKind::Yielded)),
        StateKind::Blocked => ('·', 0.2, BLOCKED, 245, Half::Same),
        StateKind::Stopped => ('s', 0.4, STOPPED, 131, Half::Same),
        StateKind::BlockedOrRunnable => ('~', 0.2, BLOCKED, 245, Half::Of(StateKind::Runnable)),
        StateKind::Lost => ('x', 0.4, LOST, 170, Half::Ground),
        StateKind::Unknown => ('?', 0.2, UNKNOWN, 243, Half::Ground),
    };
    let rails = matches!(kind, StateKind::Preempted | StateKind::Yielded);
    Shade { name: kind.name(), mark, height, colours, terminal, rails, half }
}

/// All of them, those of states first.
pub(crate) fn all_shades() -> impl Iterator<Item = Shade> {
    StateKind::ALL.into_iter().map(state_shade).chain([CALL, MEMORY])
}

/// The colours as variables of CSS, one for each colour.
pub(crate) fn variables() -> String {
    let mut all: Vec<String> = Vec::new();
    for [light, dark, page] in all_shades().map(|shade| shade.colours) {
        let variable = page.trim_start_matches("var(").trim_end_matches(')');
        let line = format!("{variable}:light-dark({light},{dark});");
        if !all.contains(&line) {
            all.push(line);
        }
    }
    all.concat()
}

/// The class of CSS that a shade has.
pub(crate) fn shade_class(shade: Shade) -> String {
    shade.name.replace(' ', "-")
}

/// A class for each: its colour as ground, that of its other half as that of text.
pub(crate) fn classes() -> String {
    let class = |shade: Shade| {
        let [ground, text] = match shade.half {
            Half::Same => [shade.colours[2]; 2],
            Half::Ground => ["var(--card)", shade.colours[2]],
            Half::Of(kind) => [shade.colours[2], state_shade(kind).colours[2]],
        };
        format!(".{}{{background-color:{ground};color:{text}}}\n", shade_class(shade))
    };
    all_shades().map(class).collect()
}
