package import WireFormat

/// A PushInteraction parsed in place, with what the rules read of its payload.
package struct PushView {
    /// The `payload` oneof's member.
    package var payload = Payload.none
    /// The fields of the payload that the rules read. Those of a raw payload are empty until its
    /// JSON is read, except for the ids in an event that the journal holds.
    package var fields = PayloadView()
    /// A raw payload's JSON, which `RawPayload` reads.
    package var json = Bytes.none
    /// The kind as a number of the proto enum.
    package var kind: Int32 = 0
    /// The action button's identifier; empty for the notification itself.
    package var actionIdentifier = Bytes.none
    /// The app's state as a number of the proto enum.
    package var appState: Int32 = 0
    /// The product as a number of the proto enum.
    package var product: Int32 = 0

    /// The push service that delivered the payload.
    package enum Payload: Equatable {
        case none
        case apns
        case fcm(hasData: Bool)
        /// A payload of either service, as JSON.
        case raw
    }

    /// The fields that APNs and FCM payloads share.
    package struct PayloadView {
        /// `_dId`.
        package var deliveryID = Bytes.none
        /// `_mId`.
        package var messageID = Bytes.none
        /// `_acsDeliveryTracking`; nil if absent.
        package var flag: Bytes?
        /// Whether `media-attachment-url` is set.
        package var hasMedia = false
        /// APNs' `mutable-content`.
        package var mutableContent: Int32 = 0
        /// The deeplink, which may be a tracked link.
        package var uri = Bytes.none
        /// The sound, which may be a tracked link.
        package var sound = Bytes.none
        /// Whether there is a title, a body, and any other text to show: an alert's further keys,
        /// or the text of Classic on Android.
        package var (hasTitle, hasBody, hasOtherText) = (false, false, false)
        /// The sizes of the custom fields.
        package var customFields = MapMeasure()
        /// The sizes of the other fields of APNs' `aps`.
        package var otherFields = MapMeasure()

        /// Whether it has a text to show to the recipient.
        package var isShown: Bool { self.hasTitle || self.hasBody || self.hasOtherText }
    }

    mutating func merge(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.PushInteraction
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.apns: try self.mergeApns(try reader.message())
            case Field.fcm: try self.mergeFcm(try reader.message())
            case Field.kind: self.kind = try reader.int32()
            case Field.actionIdentifier: self.actionIdentifier = try reader.string()
            case Field.appState: self.appState = try reader.int32()
            case Field.product: self.product = try reader.int32()
            case Field.raw: try self.mergeRaw(try reader.message())
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeApns(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.ApnsPayload
        try self.begin(.apns)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.aps: try self.fields.mergeAps(try reader.message())
            case Field.deliveryID: self.fields.deliveryID = try reader.string()
            case Field.messageID: self.fields.messageID = try reader.string()
            case Field.acsDeliveryTracking: self.fields.flag = try reader.string()
            case Field.mediaAttachmentURL: self.fields.hasMedia = !(try reader.string()).isEmpty
            case Field.uri: self.fields.uri = try reader.string()
            case Field.customFields: try self.fields.customFields.add(try reader.mapEntry())
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeFcm(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.FcmPayload
        try self.begin(.fcm(hasData: self.payload == .fcm(hasData: true)))
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.collapseKey, Field.priority, Field.to: _ = try reader.string()
            case Field.data:
                self.payload = .fcm(hasData: true)
                try self.fields.mergeFcmData(try reader.message())
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeRaw(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.RawPayload
        try self.begin(.raw)
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.json:
                try self.checkReplaced()
                self.json = try reader.slice()
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    // A oneof member that occurs again is merged; another member replaces it.

    private mutating func begin(_ payload: Payload) throws(WireError) {
        if self.payload != .none, self.payload != payload {
            try self.checkReplaced()
            (self.fields, self.json) = (PayloadView(), .none)
        }
        self.payload = payload
    }

    /// Refuses JSON that is no text and is about to be replaced: nobody judges it, and it stays in
    /// the event's bytes, of which readers show it.
    func checkReplaced() throws(WireError) {
        guard self.json.isValidUTF8 else { throw .invalidUTF8 }
    }
}

extension PushView.PayloadView {
    fileprivate mutating func mergeAps(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.Aps
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.alert: try self.mergeAlert(try reader.message())
            case Field.sound: self.sound = try reader.string()
            case Field.category: _ = try reader.string()
            case Field.mutableContent: self.mutableContent = try reader.int32()
            case Field.otherFields:
                let entry = try self.otherFields.add(try reader.mapEntry())
                if entry.key.equals("alert"), !entry.value.isEmpty { self.hasOtherText = true }
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    private mutating func mergeAlert(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.Alert
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.title: self.hasTitle = !(try reader.string()).isEmpty
            case Field.body: self.hasBody = !(try reader.string()).isEmpty
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }

    fileprivate mutating func mergeFcmData(_ reader: consuming WireReader) throws(WireError) {
        typealias Field = FieldTag.FcmData
        while let tag = try reader.nextTag() {
            switch tag {
            case Field.deliveryID: self.deliveryID = try reader.string()
            case Field.messageID: self.messageID = try reader.string()
            case Field.acsDeliveryTracking: self.flag = try reader.string()
            case Field.title: self.hasTitle = !(try reader.string()).isEmpty
            case Field.body: self.hasBody = !(try reader.string()).isEmpty
            case Field.category: _ = try reader.string()
            case Field.sound: self.sound = try reader.string()
            case Field.uri: self.uri = try reader.string()
            case Field.mediaAttachmentURL: self.hasMedia = !(try reader.string()).isEmpty
            case Field.customFields:
                let entry = try self.customFields.add(try reader.mapEntry())
                if entry.key.equals(PayloadSubject.classicText), !entry.value.isEmpty {
                    self.hasOtherText = true
                }
            default: try reader.skip(tag, in: Field.wireTypes)
            }
        }
    }
}
