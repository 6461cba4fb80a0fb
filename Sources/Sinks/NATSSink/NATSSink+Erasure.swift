#if NATS
// Tells the consumers of a subject that was forgotten.
internal import CNats
internal import Dispatch
package import SinkKit
internal import WireFormat

extension NATSSink {
    /// Publishes an empty message of the `ce-type` `Subject.forgottenType` for each id, to
    /// `<prefix>.<tenant>._.subject_forgotten.0`, and waits for the stream's acks.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: .last(self.tell(subject))) }
        }
    }

    /// On the queue.
    private func tell(_ subject: Subject) -> Erasure {
        do {
            let connection = try self.usableConnection()
            // Makes the stream if no hit was sent yet. What it finds lost, the next batch finds
            // again and tells.
            _ = try self.lookAtStream(connection)
            for id in subject.ids { try self.tell(id, of: subject.tenant, over: connection) }
            return .told
        } catch {
            return .failed("\(error)")
        }
    }

    private func tell(
        _ id: String, of tenant: String, over connection: NATSConnection
    ) throws {
        var name = MessageText()
        name.append(self.configuration.subjectPrefix + ".")
        tenant.withBytes { name.append(token: $0) }
        name.append("._.subject_forgotten.0")
        var message: OpaquePointer?
        try NATSError.check("natsMsg_Create", natsMsg_Create(&message, name.text, nil, nil, 0))
        defer { natsMsg_Destroy(message) }
        var (source, value) = (MessageText(), MessageText())
        source.append("/sightline/")
        tenant.withBytes { source.append(value: $0) }
        id.withBytes { value.append(value: $0) }
        let headers = [
            ("ce-specversion", "1.0"), ("ce-type", Subject.forgottenType),
            ("ce-source", source.text),
            ("ce-subject", value.text),
        ]
        for (name, value) in headers {
            try NATSError.check("natsMsgHeader_Set", natsMsgHeader_Set(message, name, value))
        }
        var options = jsPubOptions()
        jsPubOptions_Init(&options)
        options.MaxWait = self.configuration.ackTimeout.milliseconds
        var code = jsErrCode(0)
        let status = js_PublishMsg(nil, connection.jetStream, message, &options, &code)
        guard status == NATS_OK else {
            throw NATSError("telling of a subject that was forgotten", status, code)
        }
    }
}
#endif
