// The handler behind a logger: what is put together, the readable form, and lines that stay whole.
internal import Foundation
internal import Logging
internal import Synchronization
@testable internal import Telemetry
internal import Testing

struct LineLogHandlerTests {
    /// Keeps what a handler writes.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { self.lines.withLock { $0 } }
        @Sendable func add(_ bytes: [UInt8]) {
            self.lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
    }

    private struct Broken: Error, CustomStringConvertible { let description = "broken\n" }

    private func logger(_ form: LineLogHandler.Form, _ lines: Lines) -> Logger {
        Logger(label: "test") { label in
            LineLogHandler(
                label: label, form: form, now: { JSONLineTests.time }, output: lines.add)
        }
    }

    @Test("of the handler's, the provider's and the record's metadata the nearest counts")
    func metadata() {
        let lines = Lines()
        var handler = LineLogHandler(
            label: "test", form: .json, now: { JSONLineTests.time }, output: lines.add)
        handler.metadata = ["a": "handler", "b": "handler", "c": "handler"]
        handler.metadataProvider = .init { ["b": "provider", "c": "provider", "trace_id": "4bf9"] }
        handler.log(
            event: LogEvent(
                level: .error, message: "m", error: Broken(), metadata: ["c": "record"],
                source: nil, file: "", function: "", line: 0))
        #expect(
            lines.all == [
                #"{"time":"2026-01-31T23:59:59.000123Z","level":"error","logger":"test","msg":"m","#
                    + #""trace_id":"4bf9","a":"handler","b":"provider","c":"record","#
                    + #""error":"broken\n"}"# + "\n"
            ])
    }

    @Test("text is one readable line, escaped too, with the trace at its end")
    func text() {
        let lines = Lines()
        self.logger(.text(isColored: false), lines).warning(
            "two\nlines", metadata: ["b": "1", "a": "x\u{1b}[31m", "trace_id": "4bf9"])
        #expect(
            lines.all == [
                "2026-01-31T23:59:59.000123Z WARNING  test: two\\nlines a=x\\u001b[31m b=1"
                    + " trace_id=4bf9\n"
            ])
    }

    @Test(
        "colours end where they began, and every level has its own word",
        arguments: Logger.Level.allCases)
    func colors(_ level: Logger.Level) throws {
        let lines = Lines()
        var logger = self.logger(.text(isColored: true), lines)
        logger.logLevel = .trace
        logger.log(level: level, "m", metadata: ["k": "v"])
        let line = try #require(lines.all.first)
        #expect(line.contains(level.rawValue.uppercased()))
        #expect(line.hasSuffix("k=v\u{1b}[0m\n"))
        let plain = line.replacing(#/\x{1b}\[[0-9;]*m/#, with: "")
        #expect(!plain.contains("\u{1b}") && plain.contains("test: m k=v"))
    }

    @Test("a readable line is cut at 8 KiB, colours and all", arguments: [false, true])
    func textLimit(_ isColored: Bool) {
        let lines = Lines()
        let logger = self.logger(.text(isColored: isColored), lines)
        for count in 8000...8192 {
            let key = String(repeating: "k", count: count)
            logger.error("m", metadata: [key: "v"])
            logger.error("m", metadata: ["k": .string(key)])
        }
        #expect(lines.all.allSatisfy { $0.utf8.count <= 8192 && $0.hasSuffix("\n") })
        #expect(
            lines.all.contains { $0.contains("…") } && !lines.all.allSatisfy { $0.contains("…") })
    }

    @Test(
        "auto is text on a terminal and JSON elsewhere, and NO_COLOR takes the colours",
        arguments: [
            (.auto, true, nil, .text(isColored: true)), (.auto, true, "1", .text(isColored: false)),
            (.auto, true, "", .text(isColored: true)), (.auto, false, nil, .json),
            (.json, true, nil, .json), (.text, false, nil, .text(isColored: false)),
            (.text, true, nil, .text(isColored: true)),
        ] as [(LogFormat, Bool, String?, LineLogHandler.Form)])
    func format(
        _ format: LogFormat, _ isTerminal: Bool, _ noColor: String?, _ form: LineLogHandler.Form
    ) {
        #expect(format.form(isTerminal: isTerminal, noColor: noColor) == form)
    }

    @Test("lines of many tasks come whole through a pipe that holds less than they are")
    func whole() async throws {
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting.fileDescriptor
        // A full pipe then says EAGAIN, and the rest of the line has to wait.
        #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
        let output = LogOutput(fileDescriptor: writer)
        // Who waits for a pipe has to be a thread: tasks have too few of them to wait on each
        // other.
        let reading = AsyncStream<Data> { reading in
            Thread.detachNewThread {
                reading.yield((try? pipe.fileHandleForReading.readToEnd()) ?? Data())
                reading.finish()
            }
        }
        await withCheckedContinuation { writing in
            Thread.detachNewThread {
                DispatchQueue.concurrentPerform(iterations: 4) { task in
                    let logger = Logger(label: "\(task)") { label in
                        LineLogHandler(label: label, form: .json, output: output)
                    }
                    for _ in 0..<50 {
                        logger.info("\(String(repeating: "\(task)", count: 8000))")
                    }
                }
                writing.resume()
            }
        }
        try pipe.fileHandleForWriting.close()
        let read = await reading.first { _ in true } ?? Data()
        let lines = String(decoding: read, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 200)
        for line in lines {
            let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let message = try #require(read?["msg"] as? String)
            #expect(message.count == 8000 && Set(message).count == 1)
        }
    }

    @Test("a line that nobody can read is lost, and nothing else is")
    func closedOutput() {
        LogOutput(fileDescriptor: -1).write(Array("line\n".utf8))
    }
}
