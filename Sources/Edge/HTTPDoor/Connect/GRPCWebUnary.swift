internal import GRPCCore
internal import HTTPTypes
internal import NIOCore

/// gRPC-Web's protocol for unary calls: gRPC's frames in a body, and its trailers as the last one.
struct GRPCWebUnary: Sendable {
    let calls: any CallServing
    let bulk: BulkJobs

    /// The answer to a call. Its HTTP status is always 200.
    func answer(_ request: DoorRequest, form: GRPCWebForm) async -> DoorResponse {
        let answer: DoorAnswer
        do throws(ConnectRefusal) {
            let method = try ConnectMethod.at(request.path)
            let metadata = Metadata(of: request.headers)
            if let refusal = self.calls.refusal(of: metadata, from: request.peer) {
                return Self.response(refusal, form: form)
            }
            let isLong =
                request.headers[.contentEncoding] != nil
                || request.headers[named: "grpc-encoding"] != nil
                || (form.isText && request.body.readableBytes >= BulkJobs.leastBytes)
            let message = try await self.bulk.run(isLong: isLong) { () throws(ConnectRefusal) in
                try Self.message(of: request, form: form)
            }
            answer = await self.calls.serve(
                DoorCall(
                    method: method.descriptor, metadata: metadata, message: message,
                    peer: request.peer))
        } catch { answer = error.answer }
        return Self.response(
            answer.status.code == .ok && answer.message == nil
                ? ConnectRefusal.internalFailure.answer : answer, form: form)
    }

    /// The request's message, decompressed.
    private static func message(
        of request: DoorRequest, form: GRPCWebForm
    ) throws(ConnectRefusal) -> ByteBuffer {
        let body = try DoorBody.body(of: request, maxBytes: ConnectMethod.maxTextBytes)
        let message = try GRPCWebFrames.message(in: form.frames(in: body))
        guard message.isCompressed else { return message.bytes }
        guard let encoding = request.headers[named: "grpc-encoding"] else {
            throw .malformed(
                "request", "a message has the compressed flag, and the call has no grpc-encoding")
        }
        return try DoorBody.message(
            message.bytes, encoding: encoding, maxBytes: ConnectMethod.maxMessageBytes)
    }

    /// The answer in frames. An error stands in the headers as well: clients look there first, and
    /// some there alone.
    private static func response(_ answer: DoorAnswer, form: GRPCWebForm) -> DoorResponse {
        var response = DoorResponse(
            status: .ok, headers: [.contentType: form.contentType],
            body: form.body(of: GRPCWebFrames.frames(of: answer)))
        response.headers[named: "grpc-accept-encoding"] = "\(DoorBody.encodings), identity"
        guard answer.status.code != .ok else { return response }
        for (key, value) in GRPCWebFrames.trailers(of: answer) {
            guard let name = HTTPField.Name(key) else { continue }
            response.headers.append(HTTPField(name: name, value: value))
        }
        return response
    }
}
