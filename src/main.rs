//! The program: the command line in `src/cli`.

fn main() -> std::process::ExitCode {
    cli::main()
}
