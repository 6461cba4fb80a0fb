// Interprets an input as a program: each operation is a byte with operands, so that any bytes are a
// valid program, and libFuzzer's mutations give frames instead of noise.
internal import NIOCore

/// Runs an input against a connection, as its client.
struct FrameProgram {
    /// The maximum operations of an input.
    private static let maxOperations = 64

    private var input: ProgramReader
    private let connection: ServedConnection
    /// Frames that are not sent yet.
    private var pending: [UInt8] = []
    private var streams = StreamNumbers()
    /// Whether each frame is sent alone and fully processed before the next.
    private let isStepwise: Bool

    /// Sends the preface, unless the first byte says otherwise, and runs the rest.
    static func run(_ input: [UInt8], on connection: ServedConnection) {
        var program = FrameProgram(ProgramReader(input), connection)
        program.run()
    }

    private init(_ input: ProgramReader, _ connection: ServedConnection) {
        self.input = input
        self.connection = connection
        let choices = self.input.byte()
        self.isStepwise = choices & 1 != 0
        if choices & 0xe != 0xe {
            self.pending = Wire.preface + Wire.frame(.settings, payload: [])
        }
        if choices & 0x10 != 0 { self.send() }
    }

    private mutating func run() {
        for _ in 0..<Self.maxOperations where !self.input.isAtEnd {
            self.runOperation()
            if self.isStepwise { self.send() }
        }
        self.send()
    }

    /// Sends pending frames and lets the server process them.
    private mutating func send() {
        self.connection.send(self.pending)
        self.pending.removeAll(keepingCapacity: true)
        self.connection.stack.settle()
    }

    /// The operations, by their byte.
    enum Operation: UInt8, CaseIterable {
        case call, headers, continuation, message, data, reset, window, priority, ping, goAway
        case settings, settingsAcknowledgement, pushPromise, unknown, raw
        case send, split, time, writability, quiesce
    }

    private mutating func runOperation() {
        let all = Operation.allCases
        switch all[Int(self.input.byte()) % all.count] {
        case .call: self.call()
        case .headers: self.headers()
        case .continuation:
            self.frame(.continuation, flags: self.input.byte(), self.input.fields())
        case .message: self.message()
        case .data: self.data()
        case .reset: self.frame(.reset, flags: 0, Wire.bytes(self.input.number()))
        case .window: self.frame(.window, flags: 0, Wire.bytes(self.input.number()))
        case .priority: self.frame(.priority, flags: 0, self.input.raw(5, orPad: true))
        case .ping: self.frame(.ping, flags: self.input.byte() & 1, self.input.raw(8, orPad: true))
        case .goAway:
            self.frame(
                .goAway, flags: 0, Wire.bytes(self.input.number()) + Wire.bytes(self.input.number())
            )
        case .settings: self.settings()
        case .settingsAcknowledgement: self.pending += Wire.frame(.settings, flags: 1, payload: [])
        case .pushPromise:
            self.frame(.pushPromise, flags: self.input.byte(), self.input.fields())
        case .unknown: self.unknown()
        case .raw: self.pending += self.input.counted()
        case .send: self.send()
        case .split: self.split()
        case .time: self.time()
        case .writability: self.connection.setReading(self.input.byte() & 1 != 0)
        case .quiesce:
            self.send()
            self.connection.quiesce()
            self.connection.stack.settle()
        }
    }
}

extension FrameProgram {
    /// A frame on a stream that the next byte selects.
    private mutating func frame(_ kind: Wire.Kind, flags: UInt8, _ payload: [UInt8]) {
        let stream = self.streams.stream(self.input.byte())
        self.pending += Wire.frame(kind, flags: flags, stream: stream, payload: payload)
    }

    /// A well-formed call of a method, with fields added to it.
    private mutating func call() {
        let choices = self.input.byte()
        let block = CallFields.block(method: choices & 0xf) + self.input.fields()
        self.pending += Wire.frame(
            .headers, flags: choices & 0x10 != 0 ? 5 : 4, stream: self.streams.next(),
            payload: block)
    }

    /// HEADERS in any form: padded, with a priority, truncated.
    private mutating func headers() {
        let flags = self.input.byte()
        var payload: [UInt8] = []
        if flags & 0x08 != 0 { payload.append(self.input.byte()) }
        if flags & 0x20 != 0 { payload += self.input.raw(5, orPad: true) }
        payload += self.input.fields()
        self.frame(.headers, flags: flags, payload)
    }

    /// DATA with a gRPC message, in one or two frames.
    private mutating func message() {
        let choices = self.input.byte()
        let message = Messages.framed(choices & 0x3f, &self.input)
        let isLast: UInt8 = choices & 0x40 != 0 ? 1 : 0
        let stream = self.streams.stream(self.input.byte())
        guard choices & 0x80 != 0 else {
            self.pending += Wire.frame(.data, flags: isLast, stream: stream, payload: message)
            return
        }
        let cut = message.isEmpty ? 0 : Int(self.input.byte()) % message.count
        self.pending += Wire.frame(.data, stream: stream, payload: Array(message[..<cut]))
        self.pending += Wire.frame(
            .data, flags: isLast, stream: stream, payload: Array(message[cut...]))
    }

    private mutating func data() {
        let flags = self.input.byte()
        self.frame(.data, flags: flags, self.input.counted())
    }

    private mutating func settings() {
        var payload: [UInt8] = []
        for _ in 0..<self.input.byte() & 3 {
            payload += [0, self.input.byte() & 0xf] + Wire.bytes(self.input.number())
        }
        self.pending += Wire.frame(.settings, payload: payload)
    }

    /// A frame with arbitrary kind, flags, stream and length, which may be wrong.
    private mutating func unknown() {
        let (kind, flags) = (self.input.byte(), self.input.byte())
        let stream = self.streams.stream(self.input.byte())
        let payload = self.input.counted()
        let lie = Int(self.input.byte() & 3)
        self.pending +=
            Wire.header(
                kind, flags: flags, stream: stream, length: payload.count + lie) + payload
    }

    /// Sends pending frames in two pieces.
    private mutating func split() {
        let place = self.pending.isEmpty ? 0 : Int(self.input.byte()) % self.pending.count
        let rest = Array(self.pending[place...])
        self.pending.removeLast(rest.count)
        self.send()
        self.pending = rest
    }

    private mutating func time() {
        self.send()
        switch self.input.byte() & 3 {
        case 0: self.connection.stack.pass(.milliseconds(1))
        case 1: self.connection.stack.pass(.seconds(11))
        case 2: self.connection.stack.pass(.minutes(2))
        default: self.connection.stack.pass(.hours(2))
        }
    }
}

/// The stream ids that the client uses.
private struct StreamNumbers {
    private var last: UInt32 = 0
    private var isFirst = true

    /// The next new stream.
    mutating func next() -> UInt32 {
        self.last = self.isFirst ? 1 : self.last &+ 2
        self.isFirst = false
        return self.last
    }

    /// The stream that a byte selects: usually a recent one.
    mutating func stream(_ byte: UInt8) -> UInt32 {
        switch byte {
        case 0..<0x80: self.last &- 2 &* min(UInt32(byte & 3), self.last / 2)
        case 0x80..<0xC0: self.next()
        case 0xC0..<0xE0: 0
        case 0xE0..<0xF0: UInt32(byte & 0xf)
        default: .max &- UInt32(byte & 0xf)
        }
    }
}
