internal import Credentials
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import HTTP2Edge
internal import HTTPDoor
internal import NIOCore
internal import SightlineProtos

/// RecordEvents for the doors, without the gRPC library in between. A door's call has one message
/// and a task of its own: streams, contexts and interceptors are of no use to it, and cost more
/// than recording an event does.
struct DirectRecording: Sendable {
    let service: TrackingService
    let checks: CallChecks

    /// The method that this is.
    static let method = Sightline_V1_TrackingService.Method.RecordEvents.descriptor

    /// Checks the call's credentials and records its events, as the services of the gRPC port do.
    @Sendable func record(
        _ call: DoorCall, _ metadata: Metadata
    ) async -> (message: ByteBuffer?, end: CallEnding.End) {
        do {
            let caller = try await self.checks.principal(of: call, metadata)
            let bytes = try await self.service.counted(.recordEvents) {
                let allowance = try self.service.ingest.allowance(of: caller.tenant, metadata)
                let answer = try await self.service.record(
                    RequestBuffer(GRPCNIOTransportBytes(call.message.readableBytesView)),
                    allowance, metadata: metadata, source: caller.source,
                    includesAccepted: !call.leavesOutAccepted)
                return try RecordAnswerSerializer().serialize(answer) as [UInt8]
            }
            return (ByteBuffer(bytes: bytes), (Status(code: .ok, message: ""), [:]))
        } catch let error as any RPCErrorConvertible {
            let code = Status.Code(error.rpcErrorCode)
            return (
                nil, (Status(code: code, message: error.rpcErrorMessage), error.rpcErrorMetadata)
            )
        } catch let error as RPCError {
            let code = Status.Code(error.code)
            return (nil, (Status(code: code, message: error.message), error.metadata))
        } catch {
            return (nil, (Status(code: .unknown, message: ""), [:]))
        }
    }
}
