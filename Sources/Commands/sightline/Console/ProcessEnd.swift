internal import ArgumentParser
internal import Foundation

/// Ends the process at once, without the functions that were registered for its end.
enum ProcessEnd {
    /// As the signal's default action does, so that a shell sees which one it was.
    static func bySignal(_ number: Int32) -> Never {
        signal(number, SIG_DFL)
        // A thread of Dispatch blocks signals, and would keep this one pending for ever.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        // Where the default action is not to end.
        _exit(128 + number)
    }

    /// Because standard output does not take what a command has to say. Without a reader
    /// (EPIPE) that is no failure, and nothing is said of it.
    static func byOutput(_ code: Int32) -> Never {
        if code == EPIPE { Self.bySignal(SIGPIPE) }
        Console.error(
            "sightline: the output cannot be written: \(String(cString: strerror(code)))")
        _exit(ExitCode.inputOutput.rawValue)
    }
}
