// Runs the whole stack without libFuzzer: programs from seeds, or libFuzzer's inputs. With VERBOSE
// set, each program's seed is printed first.
#if !LIBFUZZER
internal import Foundation

/// `wholestack RUNS [SEED]` runs programs of SEED, SEED + 1 and so on; `wholestack FILE…` runs
/// inputs.
@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let stack = try ServedStack()
        guard let runs = arguments.first.flatMap({ Int($0) }) else {
            for path in arguments {
                let input = [UInt8](try Data(contentsOf: URL(filePath: path)))
                try stack.serve(input)
            }
            try stack.finish()
            return print("wholestack: \(arguments.count) inputs, no crash, nothing stays")
        }
        let first = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        let isVerbose = ProcessInfo.processInfo.environment["VERBOSE"] != nil
        for seed in first..<first &+ UInt64(max(runs, 0)) {
            if isVerbose { print("seed \(seed)") }
            var writer = ProgramWriter(seed: seed)
            try stack.serve(writer.program())
        }
        try stack.finish()
        print("wholestack: \(runs) programs from seed \(first), no crash, nothing stays")
    }
}
#endif
