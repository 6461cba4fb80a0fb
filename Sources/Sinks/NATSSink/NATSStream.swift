#if NATS
// The stream: made where it is missing, and checked against what the deliveries rest on.
internal import CNats

/// The stream that a configuration names.
struct NATSStream {
    private let configuration: NATSConfiguration

    init(_ configuration: NATSConfiguration) { self.configuration = configuration }

    /// Looks for the stream, makes it where it is missing, and checks its settings.
    ///
    /// - Throws: `NATSError` where there is none, or it is not what is needed.
    func check(_ jetStream: OpaquePointer) throws(NATSError) -> NATSStreamState {
        guard let info = try self.info(jetStream) else {
            throw NATSError("stream \(self.configuration.stream): no answer")
        }
        defer { jsStreamInfo_Destroy(info) }
        guard let config = info.pointee.Config?.pointee else {
            throw NATSError("stream \(self.configuration.stream): no configuration in answer")
        }
        let mismatches = self.mismatches(config)
        guard mismatches.isEmpty else {
            throw NATSError(
                "stream \(self.configuration.stream): " + mismatches.joined(separator: "; "))
        }
        return NATSStreamState(
            created: info.pointee.Created, firstSequence: info.pointee.State.FirstSeq,
            lastSequence: info.pointee.State.LastSeq)
    }

    /// The id of the hit at a sequence; nil if there is no message.
    func hitID(
        at sequence: UInt64, _ jetStream: OpaquePointer
    ) throws(NATSError) -> String? {
        var message: OpaquePointer?
        var code = jsErrCode(0)
        let status = js_GetMsg(
            &message, jetStream, self.configuration.stream, sequence, nil, &code)
        if status == NATS_NOT_FOUND { return nil }
        guard status == NATS_OK else {
            throw NATSError("message \(sequence)", status, code)
        }
        defer { natsMsg_Destroy(message) }
        return AckWindow.hitID(of: message) ?? "no hit"
    }

    private var subjects: String { self.configuration.subjectPrefix + ".>" }

    private func info(
        _ jetStream: OpaquePointer
    ) throws(NATSError) -> UnsafeMutablePointer<jsStreamInfo>? {
        var info: UnsafeMutablePointer<jsStreamInfo>?
        var code = jsErrCode(0)
        var status = js_GetStreamInfo(
            &info, jetStream, self.configuration.stream, nil, &code)
        if status == NATS_NOT_FOUND {
            guard self.configuration.makesStream else {
                throw NATSError(
                    "stream \(self.configuration.stream) is missing: make it, or set "
                        + "nats.make_stream to true")
            }
            status = self.make(jetStream, &info, &code)
        }
        guard status == NATS_OK else {
            throw NATSError("stream \(self.configuration.stream)", status, code)
        }
        return info
    }

    private func make(
        _ jetStream: OpaquePointer, _ info: inout UnsafeMutablePointer<jsStreamInfo>?,
        _ code: inout jsErrCode
    ) -> natsStatus {
        self.configuration.stream.withCString { name in
            self.subjects.withCString { subjects in
                var list: [UnsafePointer<CChar>?] = [subjects]
                return list.withUnsafeMutableBufferPointer { list in
                    var config = jsStreamConfig()
                    jsStreamConfig_Init(&config)
                    config.Name = name
                    config.Subjects = list.baseAddress
                    config.SubjectsLen = 1
                    config.Storage = js_FileStorage
                    config.Discard = js_DiscardNew
                    config.Replicas = Int64(self.configuration.replicas)
                    config.MaxBytes = Int64(self.configuration.maxBytes)
                    config.MaxAge = self.configuration.maxAge.nanoseconds
                    config.Duplicates = self.configuration.duplicateWindow.nanoseconds
                    return js_AddStream(&info, jetStream, &config, nil, &code)
                }
            }
        }
    }

    /// The stream's settings that do not fit, each with the actual and the needed value.
    private func mismatches(_ config: jsStreamConfig) -> [String] {
        let subjects = (0..<Int(config.SubjectsLen)).compactMap { index in
            config.Subjects?[index].map { String(cString: $0) }
        }
        let wanted = self.configuration
        let window = wanted.duplicateWindow.nanoseconds
        let rules: [(isKept: Bool, problem: String)] = [
            (
                subjects.contains(self.subjects),
                "its subjects are \(subjects), but nats.subject_prefix needs \(self.subjects)"
            ),
            (
                config.Replicas >= Int64(wanted.replicas),
                "it has \(config.Replicas) replicas, but nats.replicas is \(wanted.replicas)"
            ),
            (
                config.Duplicates >= window,
                "it knows duplicates for \(config.Duplicates / 1_000_000_000) s, but "
                    + "nats.duplicate_seconds is \(window / 1_000_000_000)"
            ),
            (
                config.Discard == js_DiscardNew,
                "at its limit it discards the old, but discard has to be new: hits that were "
                    + "acked would go"
            ),
            (
                config.MaxBytes <= 0 || config.MaxBytes >= Int64(wanted.maxBytes),
                "it holds \(config.MaxBytes) bytes, but nats.max_bytes is \(wanted.maxBytes)"
            ),
            (
                config.Storage == js_FileStorage,
                "it is kept in memory, but storage has to be file"
            ),
        ]
        return rules.compactMap { $0.isKept ? nil : $0.problem }
    }
}

extension Duration {
    /// The duration in nanoseconds, limited to Int64.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product &+ attoseconds / 1_000_000_000
    }
}
#endif
