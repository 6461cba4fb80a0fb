internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import Synchronization

/// Takes what a service writes in a unary call: one message, and the status.
final class AnswerCollector: ClosableRPCWriterProtocol {
    typealias Element = RPCResponsePart<GRPCNIOTransportBytes>

    private struct State {
        var message: ByteBuffer?
        var end: CallEnding.End?
    }

    private let state = Mutex(State())

    /// The message; nil for none.
    var message: ByteBuffer? { self.state.withLock { $0.message } }
    /// The status and the trailing metadata; nil if the call has none yet.
    var end: CallEnding.End? { self.state.withLock { $0.end } }

    func write(_ element: Element) throws {
        switch element {
        // What a unary method says before its message, nothing at present, has no place in an
        // answer of HTTP beside what it says after it.
        case .metadata: break
        case .message(let bytes):
            let message = bytes.withUnsafeBytes { ByteBuffer(bytes: $0) }
            let isFirst = self.state.withLock { state in
                defer { state.message = state.message ?? message }
                return state.message == nil
            }
            guard isFirst else {
                // A method that streams its answers would never end, or fill the memory.
                throw RPCError(
                    code: .unimplemented,
                    message: "this method streams its answers: call it by gRPC")
            }
        case .status(let status, let metadata):
            self.state.withLock { $0.end = $0.end ?? (status, metadata) }
        }
    }

    func write(contentsOf elements: some Sequence<Element>) throws {
        for element in elements { try self.write(element) }
    }

    func finish() {}

    func finish(throwing error: any Error) {}
}
