// The fuzzers that need NIO, in one program: the variable FUZZER selects one; the default is the
// whole stack.
#if LIBFUZZER
internal import Foundation

private let fuzzer = ProcessInfo.processInfo.environment["FUZZER"] ?? "WholeStack"

private nonisolated(unsafe) let stack: ServedStack = {
    do {
        let stack = try ServedStack()
        atexit { demandNothingStays() }
        return stack
    } catch {
        fatalError("the stack cannot be made: \(error)")
    }
}()

/// Checks the last input, which no later input does.
private func demandNothingStays() {
    do { try stack.finish() } catch { fatalError("no connection: \(error)") }
}

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzWholeStack(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = [UInt8](UnsafeBufferPointer(start: data, count: count))
    switch fuzzer {
    case "MessageInflater": InflaterFuzzer.run(input)
    case "JoinedFrames": JoinedFramesFuzzer.run(input)
    default:
        do {
            try stack.serve(input)
        } catch {
            fatalError("no connection: \(error)")
        }
    }
    return 0
}

@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int
) -> Int

/// Sometimes adds an operation; otherwise mutates bytes.
@_cdecl("LLVMFuzzerCustomMutator")
func mutateProgram(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32
) -> Int {
    var writer = ProgramWriter(seed: UInt64(seed))
    guard fuzzer == "WholeStack", count > 0, writer.below(4) == 0 else {
        return mutateBytes(data, count, limit)
    }
    let operation = writer.operation()
    guard operation.count <= limit - count else { return mutateBytes(data, count, limit) }
    let place = writer.below(2) == 0 ? count : 1 + writer.below(count)
    let rest = Array(UnsafeBufferPointer(start: data + place, count: count - place))
    for (offset, byte) in (operation + rest).enumerated() { data[place + offset] = byte }
    return count + operation.count
}
#endif
