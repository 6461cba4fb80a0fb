internal import GRPCCore
internal import HTTPTypes
internal import NIOCore

/// Connect and gRPC-Web: the unary methods of `sightline.v1` for clients without gRPC, by the
/// content type of the request.
package struct ConnectDoor: DoorHandler {
    /// The content types of a call by POST.
    static let contentTypes = [
        "application/json", "application/proto", "application/grpc-web",
        "application/grpc-web+proto", "application/grpc-web-text",
        "application/grpc-web-text+proto",
    ].joined(separator: ", ")
    private static let prefix = "/sightline.v1."
    private static let streamTypes = ["application/connect+json", "application/connect+proto"]

    private let connect: ConnectUnary
    private let web: GRPCWebUnary
    private let crossOrigin: CrossOrigin

    /// Creates a door.
    ///
    /// - Parameters:
    ///   - calls: serves the calls.
    ///   - corsOrigins: the origins of web pages that may call; `*` for all.
    ///   - pageOrigins: those of the live page, once they are known; nil if it may not call.
    ///   - bulk: where long messages are read and written; nil for where a request's task runs.
    package init(
        calls: any CallServing, corsOrigins: [String],
        pageOrigins: (@Sendable () -> [String])? = nil, bulk: (any TaskExecutor)? = nil
    ) {
        self.connect = ConnectUnary(calls: calls, bulk: BulkJobs(executor: bulk))
        self.web = GRPCWebUnary(calls: calls, bulk: BulkJobs(executor: bulk))
        self.crossOrigin = CrossOrigin(origins: corsOrigins, page: pageOrigins)
    }

    /// Whether the path is one of the package `sightline.v1`, with or without such a method.
    package func takes(_ request: DoorRequest) -> Bool {
        request.path.utf8.starts(with: Self.prefix.utf8)
    }

    /// The answer to a call, to a browser's question before one, and to what is no call.
    package func answer(_ request: DoorRequest) async -> DoorResponse {
        if let preflight = self.crossOrigin.preflight(request) { return preflight }
        var response = await self.response(to: request)
        self.allow(&response, for: request)
        return response
    }

    /// Lets a page of an allowed origin read an answer.
    package func allow(_ response: inout DoorResponse, for request: DoorRequest) {
        self.crossOrigin.allow(&response, for: request)
    }

    private func response(to request: DoorRequest) async -> DoorResponse {
        switch request.method {
        case .get: return await self.connect.answerGet(request)
        case .post: break
        default:
            let fix =
                request.method == .options
                ? "a page may call if http.cors_origins lists its origin" : "call by POST"
            let reads = (try? ConnectMethod.at(request.path))?.hasNoSideEffects ?? true
            return .words(
                .methodNotAllowed, "\(ConnectRefusal.shown(request.method.rawValue)): \(fix)",
                [.allow: reads ? "GET, POST" : "POST"])
        }
        let type = MediaType(of: request.headers)
        if let codec = MessageCodec(type) {
            return await self.connect.answer(request, codec: codec)
        }
        if let form = GRPCWebForm(type) { return await self.web.answer(request, form: form) }
        if Self.streamTypes.contains(type.name) {
            return self.connect.answer(stream: request, contentType: type.name)
        }
        let hint =
            type.name == "application/grpc" || type.name.hasPrefix("application/grpc+")
            ? ", and gRPC at the server's gRPC port" : ""
        return .unknownContentType(
            "content-type \"\(ConnectRefusal.shown(type.name))\" is unknown here: this port serves "
                + Self.contentTypes + hint)
    }
}
