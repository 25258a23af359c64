//! The event loop. Also sets up and restores the terminal.

use crate::app::App;
use crate::panes::Order;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyEventKind, poll,
    read,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use std::io::{self, Stdout, Write, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum time that the engine works before the event loop polls for input.
const WORK_SLICE: Duration = Duration::from_millis(8);
/// Time to wait for results after a key press, so that most results appear in the same frame.
const ANSWER_WAIT: Duration = Duration::from_millis(12);
/// Minimum time between two frames while requests are pending.
const MIN_FRAME_TIME: Duration = Duration::from_millis(40);
/// Interval at which signals are checked while the application is idle.
const IDLE_POLL: Duration = Duration::from_millis(200);

/// Exit status after a hangup: 128 + SIGHUP.
#[cfg(unix)]
const HANGUP_STATUS: i32 = 128 + signal_hook::consts::SIGHUP;

/// The terminal in raw mode. The previous mode is restored on drop.
struct RawTerminal(Terminal<CrosstermBackend<Stdout>>);

impl RawTerminal {
    fn enter() -> io::Result<RawTerminal> {
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()));
        terminal.map(RawTerminal).inspect_err(|_| leave())
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let started =
        execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, SetTitle("memscape"));
    started.inspect_err(|_| leave())
}

/// Restores the terminal. Ignores errors, which occur only if the terminal no longer exists.
fn leave() {
    let _ = execute!(stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
}

/// Flags set by signal handlers.
#[derive(Clone, Default)]
struct Signals {
    quit: Arc<AtomicBool>,
    suspend: Arc<AtomicBool>,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Signals> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
        let signals = Signals::default();
        for signal in [SIGINT, SIGQUIT, SIGTERM] {
            signal_hook::flag::register(signal, signals.quit.clone())?;
        }
        // A read from a terminal that is gone never returns, so the main loop could not react to SIGHUP.
        let mut gone = signal_hook::iterator::Signals::new([SIGHUP])?;
        std::thread::spawn(move || {
            if gone.forever().next().is_some() {
                leave();
                std::process::exit(HANGUP_STATUS);
            }
        });
        signal_hook::flag::register(SIGTSTP, signals.suspend.clone())?;
        Ok(signals)
    }

    /// Suspends the process until it receives SIGCONT, for example from `fg`.
    fn suspend_process() {
        // Fails only for signals without a default action.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals::default())
    }

    /// Does nothing, because this system has no job control.
    fn stop() {}
}

/// Runs the application in the terminal until the user quits. Returns lines to print after the screen is restored.
///
/// # Errors
/// Returns the I/O error of the terminal.
pub fn run(app: &mut App) -> io::Result<Vec<String>> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        leave();
        before(panic);
    }));
    let signals = Signals::listen()?;
    let mut ours = RawTerminal::enter()?;
    let mut link = Vec::new();
    let mut is_busy = true;
    let mut drawn = Instant::now();
    draw(app, &mut ours.0)?;
    loop {
        if signals.quit.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let mut is_pressed = false;
        while poll(if is_busy || is_pressed { Duration::ZERO } else { IDLE_POLL })? {
            is_pressed = true;
            match read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => app.key(&key),
                Event::Mouse(event) => app.mouse(&event),
                Event::Paste(text) => app.paste(&text),
                Event::Resize(..) => app.request_redraw(),
                _ => {}
            }
            if app.orders.contains(&Order::Quit) {
                break;
            }
        }
        if signals.suspend.swap(false, Ordering::Relaxed) {
            app.orders.push(Order::Suspend);
        }
        for order in std::mem::take(&mut app.orders) {
            match order {
                Order::Quit => return Ok(link),
                Order::Copy(text) => execute!(stdout(), CopyToClipboard::to_clipboard_from(text))?,
                Order::Redraw => {
                    ours.0.clear()?;
                    app.request_redraw();
                }
                Order::Suspend => {
                    leave();
                    Signals::suspend_process();
                    enter()?;
                    ours.0.clear()?;
                    app.request_redraw();
                }
            }
        }
        if let Some(shown) = &app.link {
            link.clone_from(shown);
        }
        let until = Instant::now() + if is_pressed { ANSWER_WAIT } else { WORK_SLICE };
        is_busy = app.work(&mut || Instant::now() < until);
        let is_due = !is_busy || is_pressed || drawn.elapsed() >= MIN_FRAME_TIME;
        if is_due && app.take_needs_redraw() {
            is_busy |= draw(app, &mut ours.0)?;
            drawn = Instant::now();
        }
    }
}

/// Draws the screen. Returns true if work remains.
fn draw(app: &mut App, terminal: &mut Terminal<CrosstermBackend<Stdout>>) -> io::Result<bool> {
    let size = terminal.size()?;
    let mut is_busy = false;
    if app.update_layout(size.width, size.height) {
        let until = Instant::now() + WORK_SLICE;
        is_busy = app.work(&mut || Instant::now() < until);
    }
    // Answers may change the layout, for example by adding rows of annotations.
    is_busy |= app.update_layout(size.width, size.height);
    terminal.draw(|frame| app.draw(frame))?;
    stdout().flush()?;
    // If work is left, the next frame will be drawn anyway.
    if !is_busy {
        app.take_needs_redraw();
    }
    Ok(is_busy)
}
