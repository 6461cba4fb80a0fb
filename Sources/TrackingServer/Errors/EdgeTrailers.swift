// Trailers that our services did not write: the gRPC library ends calls by itself too, with a bare
// code or with none at all. Each gets its ErrorInfo here, so that no status goes out without one.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import NIOHPACK

/// Statuses in the form of HTTP/2 trailers.
enum EdgeTrailers {
    private static let details = "grpc-status-details-bin"

    /// The words for the ends of calls.
    ///
    /// - Parameter onRefusal: told the reason of each call that ends with an error.
    static func ending(
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void = { _ in }
    ) -> CallEnding {
        CallEnding { refusal in
            let error = ServiceError(refusal)
            onRefusal(error.reason)
            return Self.trailers(error)
        } complete: { headers in
            if let reason = Self.addDetails(to: &headers) { onRefusal(reason) }
        }
    }

    /// The trailers of an error.
    static func trailers(_ error: ServiceError) -> HPACKHeaders {
        var headers = HPACKHeaders()
        let status = error.status
        headers.add(name: "grpc-status", value: "\(status.code.rawValue)")
        headers.add(name: "grpc-message", value: Self.percentEncoded(status.message))
        headers.add(name: Self.details, value: Self.encoded(status))
        return headers
    }

    /// Gives trailers with an error and no details their ErrorInfo.
    ///
    /// - Returns: the reason of the error; nil where there is none.
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

    /// The reason in details as they are sent.
    private static func reason(in details: String) -> ServiceError.Reason? {
        guard let bytes = Data(base64Encoded: Self.padded(details)) else { return nil }
        let error = RPCError(
            code: .unknown, message: "", metadata: [Self.details: .binary([UInt8](bytes))])
        // Our own services wrote them; what could not be read would only not be counted.
        return (try? error.unpackGoogleRPCStatus()).flatMap(Self.reason)
    }

    private static func reason(of status: GoogleRPCStatus) -> ServiceError.Reason? {
        status.details.lazy.compactMap { $0.errorInfo }.first
            .flatMap { ServiceError.Reason(rawValue: $0.reason) }
    }

    /// gRPC sends base64 with or without its padding.
    private static func padded(_ base64: String) -> String {
        base64 + String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
    }

    /// What the library means by a code, with all that clients need.
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
            // The library's word for an error that nobody has foreseen.
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

    /// The form of grpc-message: printable ASCII, all else as %XX.
    private static func percentEncoded(_ text: String) -> String {
        text.utf8.map { byte in
            (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%")
                ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
        }.joined()
    }
}
