// What every fuzzer demands beyond not crashing. A broken demand ends the process, which libFuzzer
// takes for a crash: it keeps the input, and prints the words.

/// Ends the process with `problem` unless `isMet`.
func require(_ isMet: Bool, _ problem: @autoclosure () -> String) {
    if !isMet { fatalError(problem()) }
}
