// Assertions of the fuzzers. A failed one ends the process, which libFuzzer reports as a crash with
// the message and the input.

/// Ends the process with `problem` unless `isMet`.
func require(_ isMet: Bool, _ problem: @autoclosure () -> String) {
    if !isMet { fatalError(problem()) }
}
