internal import JSON
package import SightlineProtos
internal import SwiftProtobuf
internal import TrackingReport
internal import WireFormat

/// A malformed line.
package struct BadLine: Sendable, Equatable {
    /// The line's number, from 1.
    package var line: Int
    /// The position in the line in characters, from 1; nil if unknown.
    package var column: Int?
    /// What is wrong, and the fix.
    package var reason: String

    /// Creates the error of a line.
    package init(line: Int, column: Int?, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}

/// A line of an event file.
package enum NDJSONLine: Sendable, Equatable {
    /// An event and its line's number, from 1.
    case event(Sightline_V1_TrackingEvent, line: Int)
    /// A malformed line; later lines are still read.
    case bad(BadLine)
}

/// Parses NDJSON incrementally: each line is an event in proto3 JSON. Buffers one incomplete line
/// of at most `maxLineByteCount` bytes.
package struct NDJSONReader: Sendable {
    /// The maximum bytes of a line: an event has at most 16 KiB, its JSON a few times as much.
    package static let maxLineByteCount = 1024 * 1024

    private var unfinished: [UInt8] = []
    private var lineCount = 0
    private var isOverlong = false

    /// Creates a reader at line 1.
    package init() {}

    /// Parses further bytes; returns the completed lines. Empty lines are counted but not returned.
    package mutating func feed(_ bytes: some Collection<UInt8>) -> [NDJSONLine] {
        var lines: [NDJSONLine] = []
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            self.append(rest[..<newline])
            rest = rest[rest.index(after: newline)...]
            if let line = self.endLine() { lines.append(line) }
        }
        self.append(rest)
        return lines
    }

    /// Returns the last line if no newline ends it.
    package mutating func finish() -> NDJSONLine? {
        guard self.isOverlong || !self.unfinished.isEmpty else { return nil }
        return self.endLine()
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        guard !self.isOverlong else { return }
        guard bytes.count <= Self.maxLineByteCount - self.unfinished.count else {
            self.isOverlong = true
            self.unfinished = []
            return
        }
        self.unfinished.append(contentsOf: bytes)
    }

    private mutating func endLine() -> NDJSONLine? {
        self.lineCount += 1
        defer {
            self.unfinished.removeAll(keepingCapacity: true)
            self.isOverlong = false
        }
        if self.isOverlong {
            let reason =
                "the line has more than \(Self.maxLineByteCount) bytes; write one event to a line"
            return .bad(BadLine(line: self.lineCount, column: nil, reason: reason))
        }
        if self.unfinished.last == UInt8(ascii: "\r") { self.unfinished.removeLast() }
        guard self.unfinished.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return nil }
        do {
            let event = try Sightline_V1_TrackingEvent(jsonUTF8Bytes: self.unfinished)
            return .event(event, line: self.lineCount)
        } catch {
            return .bad(self.judge(error))
        }
    }

    private func judge(_ error: any Error) -> BadLine {
        // SwiftProtobuf reports no position.
        if let fault = self.firstFault() {
            let reason =
                fault == self.unfinished.count
                ? "the line ends inside its JSON; write one whole event to a line"
                : "this is no JSON from here on; write one event in proto3 JSON to a line"
            return BadLine(line: self.lineCount, column: self.column(of: fault), reason: reason)
        }
        if let error = error as? JSONDecodingError, case .unknownField(let name) = error {
            let place = self.place(of: Array("\"\(name)\"".utf8))
            let reason =
                "the field \"\(name.printable)\" is unknown; a TrackingEvent has none of that "
                + "name here (keys of a payload that Campaign does not define go into "
                + "customFields)"
            return BadLine(
                line: self.lineCount, column: place.map(self.column), reason: reason)
        }
        let reason =
            "this is JSON and no TrackingEvent: \(Self.words(for: error)); compare it "
            + "with event.proto"
        return BadLine(line: self.lineCount, column: nil, reason: reason)
    }

    private func firstFault() -> Int? {
        do throws(JSONFault) {
            _ = try JSONValue(event: self.unfinished)
            return nil
        } catch {
            return error.offset
        }
    }

    /// Counts characters rather than bytes, as editors do.
    private func column(of place: Int) -> Int {
        String(decoding: self.unfinished.prefix(place), as: UTF8.self).count + 1
    }

    private func place(of part: [UInt8]) -> Int? {
        guard self.unfinished.count >= part.count else { return nil }
        return (0...(self.unfinished.count - part.count)).first { start in
            self.unfinished[start..<(start + part.count)].elementsEqual(part)
        }
    }

    private static func words(for error: any Error) -> String {
        guard let error = error as? JSONDecodingError else { return "\(error)".printable }
        switch error {
        case .unrecognizedEnumValue:
            return "an enum holds a name that it does not have"
        case .malformedNumber, .numberRange, .leadingZero:
            return "a number has a wrong form or is out of its range"
        case .malformedTimestamp:
            return "a time is not of the form 2026-01-31T12:00:00Z"
        case .malformedString, .invalidUTF8:
            return "a string is needed, or one is no valid UTF-8"
        case .conflictingOneOf:
            return "two fields exclude each other"
        case .messageDepthLimit:
            return "it is nested too deeply"
        default:
            return "a value has a wrong type (\(error))".printable
        }
    }
}
