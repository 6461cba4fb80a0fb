internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import HTTPDoor
internal import NIOHPACK
internal import WireFormat

/// Trailers of calls that the edge or the gRPC library ends. The library sends a bare code, or
/// none; here every status gets an ErrorInfo.
enum EdgeTrailers {
    private static let details = "grpc-status-details-bin"

    /// Words the ends of calls for the edge.
    ///
    /// - Parameter onRefusal: called with the reason of each call that ends with an error.
    static func termination(
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void = { _ in }
    ) -> CallTermination {
        CallTermination { refusal in
            let error = ServiceError(refusal)
            onRefusal(error.reason)
            return Self.trailers(error)
        } complete: { headers in
            if let reason = Self.addDetails(to: &headers) { onRefusal(reason) }
        }
    }

    /// Words the ends of calls of the doors, in the same way.
    ///
    /// - Parameter onRefusal: called with the reason of each call that ends with an error.
    static func ending(
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void = { _ in }
    ) -> CallEnding {
        CallEnding { refusal in
            let error = ServiceError(refusal)
            onRefusal(error.reason)
            return Self.end(error.status)
        } complete: { end in
            guard let code = RPCError.Code(end.status.code) else { return end }
            var own = RPCError(code: code, message: "")
            own.metadata = end.metadata
            // Our own services wrote the details; unreadable ones would merely not be counted.
            if let status = try? own.unpackGoogleRPCStatus() {
                if let reason = Self.reason(of: status) { onRefusal(reason) }
                return end
            }
            let status = Self.status(code, end.status.message)
            if let reason = Self.reason(of: status) { onRefusal(reason) }
            return Self.end(status)
        }
    }

    /// The end of a call, as `ending` words it.
    static func end(_ status: GoogleRPCStatus) -> CallEnding.End {
        (
            Status(code: Status.Code(status.code), message: status.message),
            status.rpcErrorMetadata
        )
    }

    /// Encodes an error as trailers.
    static func trailers(_ error: ServiceError) -> HPACKHeaders {
        var headers = HPACKHeaders()
        let status = error.status
        headers.add(name: "grpc-status", value: "\(status.code.rawValue)")
        headers.add(name: "grpc-message", value: status.message.percentEncodedMessage)
        headers.add(name: Self.details, value: Self.encoded(status))
        return headers
    }

    /// Adds an ErrorInfo to trailers with an error and no details.
    ///
    /// - Returns: the error's reason; nil if the call succeeded.
    static func addDetails(to headers: inout HPACKHeaders) -> ServiceError.Reason? {
        guard let text = headers.first(name: "grpc-status"), text != "0", let number = Int(text),
            let code = Status.Code(rawValue: number).flatMap(RPCError.Code.init)
        else { return nil }
        if let details = headers.first(name: Self.details) { return Self.reason(in: details) }
        let message = headers.first(name: "grpc-message") ?? ""
        let status = Self.status(code, message.removingPercentEncoding ?? message)
        headers.replaceOrAdd(name: "grpc-status", value: "\(status.code.rawValue)")
        headers.add(name: Self.details, value: Self.encoded(status))
        return Self.reason(of: status)
    }

    /// The reason in encoded details.
    private static func reason(in details: String) -> ServiceError.Reason? {
        guard let bytes = Data(base64Encoded: Self.padded(details)) else { return nil }
        let error = RPCError(
            code: .unknown, message: "", metadata: [Self.details: .binary([UInt8](bytes))])
        // Our own services wrote them; unreadable ones would merely not be counted.
        return (try? error.unpackGoogleRPCStatus()).flatMap(Self.reason)
    }

    private static func reason(of status: GoogleRPCStatus) -> ServiceError.Reason? {
        status.details.lazy.compactMap { $0.errorInfo }.first
            .flatMap { ServiceError.Reason(rawValue: $0.reason) }
    }

    /// gRPC omits base64 padding or not; `Data` requires it.
    private static func padded(_ base64: String) -> String {
        base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    }

    /// The status for an error code of the library, with details for clients.
    static func status(_ code: RPCError.Code, _ message: String) -> GoogleRPCStatus {
        func status(_ reason: ServiceError.Reason, _ cure: ErrorDetails...) -> GoogleRPCStatus {
            GoogleRPCStatus(
                code: code, message: message,
                details: [.errorInfo(reason: reason.rawValue, domain: "sightline.v1")] + cure)
        }
        let badRequest = ErrorDetails.badRequest(violations: [
            .init(field: "request", description: message)
        ])
        switch code {
        case .unimplemented: return status(.unimplemented)
        case .invalidArgument: return status(.requestMalformed, badRequest)
        case .resourceExhausted: return status(.requestTooLarge, badRequest)
        case .unavailable: return status(.serverClosing, .retryInfo(delay: .zero))
        case .cancelled, .deadlineExceeded: return status(.callEnded)
        default:
            var failure = status(.internalFailure)
            // The library uses this code for unexpected errors.
            if code == .unknown { failure.code = .internalError }
            return failure
        }
    }

    private static func encoded(_ status: GoogleRPCStatus) -> String {
        for value in status.rpcErrorMetadata[binaryValues: Self.details] {
            return Data(value).base64EncodedString()
        }
        return ""
    }
}
