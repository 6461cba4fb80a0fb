// Hits as CloudEvents in JSON.
internal import Foundation
internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// Encodes a batch: each hit becomes a CloudEvent whose data is the line that the jsonl sink would
/// write.
struct WebhookEvents: ~Copyable {
    private let source: String
    private var lines: JSONLines
    private var text = TextBuffer()
    /// The events of the batch, in order.
    private(set) var events: [Event] = []

    /// An event of the batch.
    struct Event: Sendable, Equatable {
        /// Its hit's position in the batch.
        let position: Int
        /// Where it stands in the text.
        let range: Range<Int>
        /// The hit's id in hexadecimal.
        let id: String
        /// Who sent it; hits that follow each other share the bytes.
        let tenant: [UInt8]
    }

    /// An encoder.
    ///
    /// - Parameter source: what the events' source begins with.
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    init(source: String) throws {
        self.source = source
        self.lines = try JSONLines()
    }

    /// Encodes a batch.
    ///
    /// - Returns: by position the reasons of hits that have no JSON form.
    /// - Throws: `DamagedPayload` if the batch is not in the journal's form.
    mutating func encode(_ hits: HitBatch) throws -> [Int: String] {
        var rejected = try self.lines.encode(hits)
        self.text.truncate(to: 0)
        self.events.removeAll(keepingCapacity: true)
        var lines = LineReader(bytes: self.lines.bytes)
        var tenant: [UInt8] = []
        try hits.forEach { position, hit in
            guard rejected[position] == nil, let line = lines.next() else { return }
            let start = self.text.count
            do {
                try self.append(hit, line)
            } catch {
                self.text.truncate(to: start)
                rejected[position] = "no JSON form: \(error)"
                return
            }
            if !hit.request.tenant.equals(tenant) { tenant = [UInt8](hit.request.tenant) }
            self.events.append(
                Event(
                    position: position, range: start..<self.text.count,
                    id: Self.hexadecimal(of: hit), tenant: tenant))
        }
        return rejected
    }

    /// A request's body: some events that follow each other, as a JSON array.
    func body(of part: Range<Int>) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "[")]
        body.reserveCapacity(WebhookPart.bytes(of: self.events[part]))
        for event in self.events[part] {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            body.append(contentsOf: self.text.bytes[event.range])
        }
        body.append(UInt8(ascii: "]"))
        return body
    }

    /// A request's body that tells of a subject that was forgotten.
    ///
    /// - Parameters:
    ///   - id: the event's.
    ///   - time: seconds since 1970.
    /// - Throws: an error if a text is not UTF-8.
    func body(forgetting subject: Subject, id: String, time: Int64) throws -> [UInt8] {
        var text = TextBuffer(capacity: 1024)
        text.append("[{\"specversion\":\"1.0\",\"id\":\"")
        try id.withBytes { try text.append(escaping: $0) }
        text.append("\",\"source\":\"")
        try self.source.withBytes { try text.append(escaping: $0) }
        text.append("/")
        subject.tenant.withBytes { text.append(percentEncoding: $0) }
        text.append("\",\"type\":\"")
        try Subject.forgottenType.withBytes { try text.append(escaping: $0) }
        text.append("\",\"time\":")
        _ = text.append(seconds: time, nanos: 0)
        text.append(",\"datacontenttype\":\"application/json\",\"data\":{\"tenant\":")
        try subject.tenant.withBytes { try text.append(quoting: $0) }
        text.append(",\"subjectIds\":[")
        for (number, id) in subject.ids.enumerated() {
            if number > 0 { text.append(",") }
            try id.withBytes { try text.append(quoting: $0) }
        }
        text.append("]}}]")
        return [UInt8](text.bytes)
    }

    private mutating func append(_ hit: Hit, _ line: Bytes) throws {
        self.text.append("{\"specversion\":\"1.0\",\"id\":\"")
        hit.key.withHitID(hit.kind) { id in
            for byte in id {
                self.text.append(Self.digits[Int(byte >> 4)])
                self.text.append(Self.digits[Int(byte & 15)])
            }
        }
        self.text.append("\",\"source\":\"")
        try self.source.withBytes { try self.text.append(escaping: $0) }
        self.text.append("/")
        self.text.append(percentEncoding: hit.request.tenant)
        self.text.append("\",\"type\":\"sightline.v1.hit.")
        self.text.append(hit.kind.name)
        self.text.append("\"")
        try self.append(",\"subject\":", hit.deliveryID)
        try self.append(timeOf: hit.request)
        try self.append(",\"traceparent\":", hit.request.traceparent)
        try self.append(",\"tracestate\":", hit.request.tracestate)
        self.text.append(",\"datacontenttype\":\"application/json\",\"data\":")
        self.text.append(line)
        self.text.append("}")
    }

    /// Appends the time at which the server received the event, unless it has none that a
    /// timestamp can hold.
    private mutating func append(timeOf origin: Hit.Request) throws {
        let start = self.text.count
        self.text.append(",\"time\":")
        let isTime = self.text.append(
            seconds: origin.receiveTime / 1_000_000,
            nanos: Int32(origin.receiveTime % 1_000_000) * 1000)
        if !isTime { self.text.truncate(to: start) }
    }

    /// Appends an attribute, unless it is empty: CloudEvents has no empty ones.
    private mutating func append(_ name: StaticString, _ value: Bytes) throws {
        guard !value.isEmpty else { return }
        self.text.append(name)
        try self.text.append(quoting: value)
    }

    private static func hexadecimal(of hit: Hit) -> String {
        let digits = hit.id.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
        return String(decoding: digits, as: UTF8.self)
    }

    private static let digits = [UInt8]("0123456789abcdef".utf8)
}

extension TextBuffer {
    private static let capitals = [UInt8]("0123456789ABCDEF".utf8)

    /// Appends a segment of a URI.
    fileprivate mutating func append(percentEncoding text: Bytes) {
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."), UInt8(ascii: "~"):
                self.append(byte)
            default:
                self.append("%")
                self.append(Self.capitals[Int(byte >> 4)])
                self.append(Self.capitals[Int(byte & 15)])
            }
        }
    }
}

/// Reads lines without their ends.
private struct LineReader {
    let bytes: Bytes
    private var offset = 0

    init(bytes: Bytes) { self.bytes = bytes }

    mutating func next() -> Bytes? {
        let rest = self.bytes[self.offset...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { self.offset = end + 1 }
        return Bytes(rebasing: rest[..<end])
    }
}
