internal import GRPCCore
internal import HTTPTypes
internal import NIOCore
internal import WireFormat

/// Connect's protocol for unary calls: the body is the message, the status tells of an error.
struct ConnectUnary: Sendable {
    let calls: any CallServing
    let bulk: BulkJobs

    /// The answer to a call by POST.
    func answer(_ request: DoorRequest, codec: MessageCodec) async -> DoorResponse {
        do throws(ConnectRefusal) {
            let method = try ConnectMethod.at(request.path)
            if let version = request.headers[named: "connect-protocol-version"],
                version != "1"
            {
                throw ConnectRefusal.malformed(
                    "connect-protocol-version",
                    "\"\(ConnectRefusal.shown(version))\" is unknown: send 1, or leave it out")
            }
            if let refusal = self.refusal(of: request) { return Self.failure(refusal) }
            let isLong =
                request.headers[.contentEncoding] != nil
                || (codec == .json && request.body.readableBytes >= BulkJobs.leastBytes)
            // Inflated and decoded at once: an inflated text that waited for that counts nowhere.
            let message = try await self.bulk.run(isLong: isLong) { () throws(ConnectRefusal) in
                try codec.request(
                    try DoorBody.body(of: request, maxBytes: codec.maxBytes), of: method)
            }
            return try await self.call(method, message, codec: codec, of: request)
        } catch { return Self.failure(error.answer) }
    }

    /// The answer to a call by GET.
    func answerGet(_ request: DoorRequest) async -> DoorResponse {
        do throws(ConnectRefusal) {
            let method = try ConnectMethod.at(request.path)
            guard method.hasNoSideEffects else {
                return .words(
                    .methodNotAllowed, "\(method.descriptor.method) records: call it by POST",
                    [.allow: "POST"])
            }
            if let refusal = self.refusal(of: request) { return Self.failure(refusal) }
            let query = try ConnectQuery(request.query ?? "")
            guard let codec = query.encoding.flatMap(MessageCodec.init(rawValue:)) else {
                return .words(.unsupportedMediaType, "query: send encoding=json or encoding=proto")
            }
            let message = try await self.bulk.run(
                isLong: query.compression != nil
            ) { () throws(ConnectRefusal) in
                try codec.request(try query.decoded(maxBytes: codec.maxBytes), of: method)
            }
            var response = try await self.call(method, message, codec: codec, of: request)
            // It is one tenant's, and tells of now.
            response.headers[.cacheControl] = "no-store"
            return response
        } catch { return Self.failure(error.answer) }
    }

    private func refusal(of request: DoorRequest) -> DoorAnswer? {
        self.calls.refusal(of: Metadata(of: request.headers), from: request.peer)
    }

    /// The answer to a stream: none is served, and the protocol says so in the body.
    func answer(stream request: DoorRequest, contentType: String) -> DoorResponse {
        do throws(ConnectRefusal) {
            let method = try ConnectMethod.at(request.path)
            return .unknownContentType(
                "\(method.descriptor.method) is no stream: send application/json or "
                    + "application/proto")
        } catch {
            let end = ConnectErrorBody(error.answer).endOfStream
            var body = ByteBuffer()
            body.writeInteger(UInt8(2))
            body.writeInteger(UInt32(clamping: end.readableBytes))
            body.writeImmutableBuffer(end)
            return DoorResponse(status: .ok, headers: [.contentType: contentType], body: body)
        }
    }

    private func call(
        _ method: ConnectMethod, _ message: ByteBuffer, codec: MessageCodec,
        of request: DoorRequest
    ) async throws(ConnectRefusal) -> DoorResponse {
        let metadata = try Self.metadata(of: request)
        let answer = await self.calls.serve(
            DoorCall(
                method: method.descriptor, metadata: metadata, message: message,
                peer: request.peer))
        guard answer.status.code == .ok else { return Self.failure(answer) }
        guard let message = answer.message else { throw .internalFailure }
        let isLong = codec == .json && message.readableBytes >= BulkJobs.leastBytes
        let text = try await self.bulk.run(isLong: isLong) { () throws(ConnectRefusal) in
            try codec.body(of: message, of: method)
        }
        var response = DoorResponse(
            status: .ok, headers: [.contentType: codec.contentType], body: text)
        response.add(trailers: answer.metadata)
        return response
    }

    /// The call's metadata: its deadline is written as in gRPC.
    private static func metadata(of request: DoorRequest) throws(ConnectRefusal) -> Metadata {
        var metadata = Metadata(of: request.headers)
        metadata.removeAllValues(forKey: "grpc-timeout")
        if let timeout = request.headers[named: "connect-timeout-ms"] {
            metadata.addString(
                try ConnectTimeout.grpcTimeout(milliseconds: timeout), forKey: "grpc-timeout")
        }
        return metadata
    }

    /// The answer of a call that failed.
    private static func failure(_ answer: DoorAnswer) -> DoorResponse {
        var response = DoorResponse(
            status: ConnectCode.of(answer.status.code).status,
            headers: [.contentType: MessageCodec.json.contentType, .cacheControl: "no-store"],
            body: ConnectErrorBody(answer).bytes)
        response.headers.append(contentsOf: Problem(answer).fields)
        response.add(trailers: answer.metadata)
        return response
    }
}

extension DoorResponse {
    /// A short answer in plain text, for people.
    static func words(
        _ status: HTTPResponse.Status, _ text: String, _ headers: HTTPFields = [:]
    ) -> DoorResponse {
        var headers = headers
        headers[.contentType] = "text/plain; charset=utf-8"
        // It may show what the client has sent, which no browser is to take for a page.
        headers[.xContentTypeOptions] = "nosniff"
        return DoorResponse(status: status, headers: headers, body: ByteBuffer(string: text + "\n"))
    }

    /// The answer to a content type that is not served, with those that are.
    static func unknownContentType(_ text: String) -> DoorResponse {
        var response = Self.words(.unsupportedMediaType, text)
        response.headers[named: "accept-post"] = ConnectDoor.contentTypes
        return response
    }

    /// Adds trailing metadata, which Connect sends as headers of an own prefix.
    fileprivate mutating func add(trailers metadata: Metadata) {
        for (key, value) in metadata where key != DoorAnswer.detailsKey {
            guard let name = HTTPField.Name("trailer-" + key) else { continue }
            self.headers.append(HTTPField(name: name, value: value.text(isPadded: false)))
        }
    }
}

extension Metadata.Value {
    /// The value as a header has it: bytes in base64.
    func text(isPadded: Bool) -> String {
        switch self {
        case .string(let text): text
        case .binary(let bytes):
            String(decoding: Base64.encode(bytes, isPadded: isPadded), as: UTF8.self)
        }
    }
}
