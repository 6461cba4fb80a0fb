// A call at the edge without a channel: the state machine, and what it lets pass.
internal import NIOCore
internal import NIOHPACK

@testable internal import HTTP2Edge
@testable internal import TrackingServer

/// A call whose head has come.
struct TestCall {
    typealias Action = CallStateMachine.Action

    var machine = CallStateMachine()
    /// The DATA frames that the library gets; an empty one is the half-close.
    private(set) var passed: [[UInt8]] = []
    private(set) var refusal: CallRefusal?

    static let limits = {
        var configuration = EdgeConfiguration()
        configuration.smallMessageBytes = 1000
        configuration.messageTimeout = .seconds(30)
        return MessageLimits(
            configuration, streamPath: TrackingService.streamPath,
            methodBytes: TrackingService.messageBytes, buffered: BufferedBytes(maxBytes: 1 << 20))
    }()

    init(_ path: String = TrackingService.streamPath, isCompressed: Bool = false) {
        var headers: HPACKHeaders = [":path": path]
        _ = self.machine.receiveHead(
            &headers, isEnd: false, metadataLimit: MetadataLimit(maxBytes: 1000),
            limits: Self.limits)
        if isCompressed { self.machine.beginInflating() }
    }

    @discardableResult
    mutating func receive(_ bytes: [UInt8], isEnd: Bool = false, hasRoom: Bool = true) -> Action {
        self.perform(
            self.machine.receive(ByteBuffer(bytes: bytes), isEnd: isEnd, hasRoom: hasRoom), bytes)
    }

    @discardableResult
    mutating func receiveInflated(_ message: [UInt8], hasRoom: Bool = true) -> Action {
        self.perform(
            self.machine.receiveInflated(ByteBuffer(bytes: message), hasRoom: hasRoom), message)
    }

    @discardableResult
    mutating func refuse(_ failure: InflateFailure) -> Action {
        self.perform(self.machine.refuse(failure), [])
    }

    @discardableResult
    mutating func receiveNoMessage(hasRest: Bool) -> Action {
        self.perform(self.machine.receiveNoMessage(hasRest: hasRest), [])
    }

    mutating func endBurst() {
        self.machine.endBurst()
        self.passHeld()
    }

    private mutating func perform(_ action: Action, _ bytes: [UInt8]) -> Action {
        switch action {
        case .pass:
            self.passHeld()
            self.passed.append(bytes)
        case .passHeld: self.passHeld()
        case .passEnd:
            self.passHeld()
            self.passed.append([])
        case .inflate, .drop: break
        case .refuse(let refusal):
            self.refusal = refusal
            _ = self.machine.end()
        }
        return action
    }

    private mutating func passHeld() {
        while let bytes = self.machine.nextHeld() {
            self.passed.append([UInt8](bytes.readableBytesView))
        }
    }
}
