//! Entry point of the `memscape` program. The command line itself is in `src/cli`.

fn main() -> std::process::ExitCode {
    cli::main()
}
