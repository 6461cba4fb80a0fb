internal import FileSinks
internal import Foundation
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct StandardOutputSinkTests {
    @Test(
        "a reader that has stopped holds up no stop, and has got whole lines",
        .timeLimit(.minutes(10)))
    func stoppedReader() async throws {
        let pipe = Pipe()
        let reader = pipe.fileHandleForReading
        let sink = try StandardOutputSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        // About three times the capacity of a pipe.
        let hits = HitBatch(try TestHits.request((1...500).map { TestEvents.full(id: $0) }))
        let delivery = Task { await sink.deliver(hits) }
        // Now it writes, and soon finds no room any more.
        var text = try #require(try reader.read(upToCount: 1))
        delivery.cancel()
        let answer = await withTaskCancellationHandler {
            await delivery.value
        } onCancel: {
            // On a timeout, a write that blocks fails and the test ends.
            try? reader.close()
        }
        guard case .unavailable(let reason) = answer else {
            Issue.record("answered \(answer)")
            return
        }
        #expect(reason.contains("nobody reads standard output"))
        try pipe.fileHandleForWriting.close()
        text += try reader.readToEnd() ?? Data()
        let lines = text.split(separator: UInt8(ascii: "\n"))
        #expect(text.last == UInt8(ascii: "\n"))
        #expect(lines.allSatisfy { $0.first == UInt8(ascii: "{") && $0.last == UInt8(ascii: "}") })
        // As many as the pipe had room for.
        #expect((1..<500).contains(lines.count))
    }
}
