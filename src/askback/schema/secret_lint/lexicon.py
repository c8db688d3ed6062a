"""The words that name a secret, in the languages people are asked in, and the words that make it something else.

Phrases are parted by commas and written as people write them: accents, capitals and gaps are folded away when a table
is read. A star stands for more letters: `парол*` begins a word, `*token` ends one, `*password*` is found inside.
Scripts that are written without spaces, or that glue articles to words, are found inside without a star.
"""
# ruff: noqa: RUF001 - Turkish, Greek and Cyrillic letters are meant as they stand

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from askback.schema.secret_lint import descriptions
from askback.schema.secret_lint.phrases import split_phrases


class TermPosition(Enum):
    """Where a phrase has to stand in a label to ask for a secret; each has its table."""

    ANYWHERE = auto()
    AS_HEAD = auto()
    ALONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretTerm:
    """What a phrase of these tables asks for."""

    kind: str
    text: str
    stands: TermPosition


def secrets() -> Iterator[tuple[str, SecretTerm]]:
    """Every phrase that names a secret, with its stars, and what it means."""
    for stands, kinds in (
        (TermPosition.ANYWHERE, ANYWHERE),
        (TermPosition.ANYWHERE, descriptions.NAMED),
        (TermPosition.AS_HEAD, AS_HEAD),
        (TermPosition.ALONE, ALONE),
    ):
        for kind, table in kinds.items():
            for phrase in split_phrases(table):
                yield phrase, SecretTerm(kind=kind, text=phrase.strip("*"), stands=stands)
    for kind, things, owners in OWNED:
        for thing in split_phrases(things):
            for owner in split_phrases(owners):
                yield (
                    f"{owner} {thing}",
                    SecretTerm(kind=kind, text=f"{owner} {thing}", stands=TermPosition.ANYWHERE),
                )


ANYWHERE: Final = {
    "password": """
        password, *password*, pass word, passwrd, pasword, passwd, *passwd*, *pwd, pwd, pswd, passcode,
        pass code, *passcode*, passkey, pass key, passphrase, *passphrase*, pass phrase, secret word,
        secret phrase, secret code, Passwort, *passwort*, Pass Wort, Kennwort, *kennwort*, Passwörter,
        Geheimwort, Losungswort, mot de passe, *motdepasse*, mots de passe, mdp, phrase de passe,
        phrase secrète, code secret, contraseña, *contraseñ*, clave de acceso, clave secreta, clave personal,
        su clave, tu clave, frase de contraseña, parola d'ordine, parola chiave segreta, senha, senhas,
        minhasenha, novasenha, palavra-passe, palavra passe, código de acesso, wachtwoord, *wachtwoord*,
        wachtzin, lösenord, *lösenord*, passord, *passord*, adgangskode, *adgangskode*, kodeord, *kodeord*,
        salasana, *salasan*, tunnussana*, hasło, hasła, hasłem, haseł, *haslo, heslo, hesla, heslem, hesel,
        *heslo, jelszó, jelsz*, parool*, slaptažod*, geslo, lozinka, lozink*, şifre, *şifre, şifre*,
        parolanı*, parolayı, parolam*, parola ta, parola dumneavoastră, пароль, *парол*, кодовое слово,
        кодова дума, секретное слово, κωδικός πρόσβασης, κωδικό πρόσβασης, κωδικού πρόσβασης, κωδικό σας,
        κωδικός σας, συνθηματικό, συνθηματικού, पासवर्ड, पासवर्ड*, कूटशब्द, गुप्त शब्द, mật khẩu, kata sandi,
        kata laluan, sandi anda, パスワード, パスフレーズ, パスコード, 暗証番号, 合言葉, 密码, 密碼, 口令,
        通行码, 비밀번호, 패스워드, 암호, 비번, كلمة المرور, كلمة مرور, كلمة السر, كلمة سر, كلمات المرور,
        الرقم السري, گذرواژه, رمز عبور, סיסמה, סיסמא, סיסמת, הסיסמ, รหัสผ่าน""",
    "API key": """
        api key, *apikey*, api secret, *apisecret, api token, *apitoken, api credentials, secret key,
        *secretkey*, secret access key, secret api key, app secret, application secret, webhook secret,
        signing secret, API-Schlüssel, API Schluessel, API-Key, geheimer Schlüssel, clé API, clés API,
        clef API, clé d'API, clé secrète, clave API, clave de API, clave de la API, llave API, chiave API,
        chiavi API, chiave segreta, chave API, chave de API, chave da API, chave secreta, API-sleutel,
        geheime sleutel, klucz API, klucza API, tajny klucz, API klíč, klíč API, API-nyckel, hemlig nyckel,
        API-nøgle, API-nøkkel, API-avain, API anahtarı, API anahtarınızı, gizli anahtar, API ключ, ключ API,
        API ключа, ключа API, секретный ключ, секретного ключа, секретний ключ, κλειδί API, μυστικό κλειδί,
        API कुंजी, एपीआई कुंजी, गुप्त कुंजी, khóa API, kunci API, APIキー, API キー, 秘密のキー,
        シークレットキー, API密钥, API 密钥, API密鑰, API金鑰, 密钥, 密鑰, 金鑰, API키, 비밀키, 시크릿 키,
        مفتاح API, مفتاح واجهة, المفتاح السري, מפתח API, คีย์ API""",
    "token": """
        access token, *accesstoken, auth token, *authtoken, authentication token, authorization token,
        bearer token, *bearertoken, refresh token, *refreshtoken, session token, id token, oauth token,
        personal access token, security token, deploy token, bot token, login token, reset token,
        service token, device token, csrf token, github pat, gitlab pat, azure pat, session cookie,
        auth cookie, authorization header, auth header, Zugriffstoken, Zugangstoken, *zugriffstoken,
        *zugangstoken, jeton d'accès, jeton d'API, jeton secret, jeton d'authentification, token d'accès,
        token de acceso, ficha de acceso, token di accesso, token de acesso, toegangstoken, token dostępu,
        tokenu dostępu, přístupový token, åtkomsttoken, adgangstoken, tilgangstoken, erişim belirteci,
        erişim jetonu, токен доступа, токена доступа, токен авторизации, токен бота, διακριτικό πρόσβασης,
        एक्सेस टोकन, アクセストークン, 認証トークン, トークン, 令牌, 訪問權杖, 權杖, 액세스 토큰, 토큰,
        رمز الوصول, رمز وصول, الرمز المميز""",
    "client secret": """
        client secret, *clientsecret, consumer secret, shared secret, oauth secret, preshared key,
        pre shared key, psk, Client-Geheimnis, secret du client, secreto de cliente, secreto del cliente,
        segreto del client, segredo do cliente, クライアントシークレット, 客户端密钥, 클라이언트 시크릿""",
    "private key": """
        private key, *privatekey*, pem key, rsa private key, ssh private key, privater Schlüssel,
        privaten Schlüssel, geheimen Schlüssel, clé privée, clef privée, clave privada, llave privada,
        chiave privata, chave privada, privésleutel, privé sleutel, klucz prywatny, klucza prywatnego,
        soukromý klíč, privat nyckel, privat nøgle, özel anahtar, приватный ключ, приватного ключа,
        закрытый ключ, закрытого ключа, приватний ключ, закритий ключ, ιδιωτικό κλειδί, निजी कुंजी,
        khóa riêng, 秘密鍵, 私钥, 私鑰, 私密金鑰, 개인키, 개인 키, المفتاح الخاص, מפתח פרטי""",
    "recovery phrase": """
        seed phrase, *seedphrase, recovery phrase, *recoveryphrase, mnemonic phrase, mnemonic seed,
        backup phrase, wallet phrase, wallet seed, word phrase, recovery words, seed words, recovery key,
        recovery seed, Wiederherstellungsphrase, Wiederherstellungsschlüssel, phrase de récupération,
        phrase mnémonique, frase semilla, frase de recuperación, frase seed, frase di recupero,
        frase de recuperação, frase semente, herstelzin, fraza odzyskiwania, obnovovací fráze,
        återställningsfras, kurtarma ifadesi, сид фраза, сид фразу, сид фразы, мнемоническая фраза,
        фраза восстановления, φράση ανάκτησης, シードフレーズ, リカバリーフレーズ, 助记词, 助記詞, 恢复短语,
        시드 구문, 니모닉, 복구 구문, عبارة الاسترداد""",
    "card number": """
        card number, card num, *cardnumber*, *cardnum, *cardno, *creditcardnumber*, cc number, cc num, ccnum,
        ccnumber, ccno, ccn, credit card number, credit card details, credit card info, credit card data,
        bank card details, payment card details, your card details, your card data, bank card,
        debit card number, card pan, payment card, number of your card, number of your credit card,
        number on your card, bank account number, Kreditkartennummer, Kartennummer, Bankkartennummer,
        Geldkartennummer, Kreditkartendaten, Kartendaten, numéro de carte, numéro de la carte,
        numéro de carte bancaire, número de tarjeta, número de la tarjeta, número de tu tarjeta,
        número de su tarjeta, datos de la tarjeta, numero di carta, numero della carta, dati della carta,
        número do cartão, número de cartão, dados do cartão, kaartnummer, bankkaartnummer, creditcardnummer,
        numer karty, numeru karty, dane karty, číslo karty, čísla karty, kortnummer, bankkortnummer,
        kreditkortnummer, luottokortin numero, kart numarası, kart numaranız, kart numaranızı,
        kredi kartı numarası, номер карты, номера карты, номер банковской карты, номер вашей карты,
        данные карты, номер картки, номер карти, αριθμός κάρτας, αριθμό κάρτας, αριθμός πιστωτικής κάρτας,
        कार्ड नंबर, कार्ड संख्या, क्रेडिट कार्ड नंबर, nomor kartu, カード番号, クレジットカード, 信用卡号,
        信用卡號, 银行卡号, 銀行卡號, 卡号, 卡號, 카드번호, 카드 번호, 신용카드, رقم البطاقة, رقم بطاقة,
        بطاقة الائتمان, מספר כרטיס, เลขบัตรเครดิต""",
    "card security code": """
        cvv, cvc, cvv2, cvc2, ccv, cvn, *cvv, cvv code, cvc code, card code, card verification,
        card security code, security code, Sicherheitscode, Kartenprüfnummer, Prüfnummer der Karte,
        code de sécurité, cryptogramme visuel, código de seguridad, codice di sicurezza, código de segurança,
        beveiligingscode, kod bezpieczeństwa, bezpečnostní kód, säkerhetskod, güvenlik kodu, код безопасности,
        код безпеки, κωδικός ασφαλείας, सुरक्षा कोड, セキュリティコード, 安全码, 安全碼, 보안코드, 보안 코드,
        رمز الأمان""",
    "PIN": """
        pin code, pincode, pin number, bank pin, card pin, sim pin, atm pin, wallet pin, account pin,
        user pin, digit pin, Geheimzahl, PIN-Nummer, code PIN, código PIN, codice PIN, numer PIN, kod PIN,
        PIN kód, PIN kodu, пин код, пин кода, κωδικός PIN, पिन कोड, mã PIN, 핀번호, PINコード, PIN码, PIN碼""",
    "one-time code": """
        otp code, *otpcode, one time code, onetime code, one time password, one time pin, one time passcode,
        single use code, 2fa, 2fa code, two factor code, mfa code, totp code, authenticator code,
        authentication code, auth code, *authcode, authorization code, verification code, *verificationcode,
        login code, access code, sms code, text message code, digit code, reset code, unlock code,
        backup code, recovery code, code we sent, code we texted, code we emailed, code sent to you,
        code from your authenticator, code from the authenticator, code from your phone, code from the sms,
        Einmalcode, Einmalpasswort, Einmalkennwort, Bestätigungscode, Verifizierungscode, Prüfcode,
        Anmeldecode, TAN-Nummer, SMS-TAN, mTAN, code de vérification, code à usage unique, code reçu par sms,
        code d'authentification, code d'accès, código de verificación, código de un solo uso,
        código de autenticación, código de acceso, código sms, codice di verifica, codice monouso,
        codice di accesso, código de verificação, código de uso único, verificatiecode, eenmalige code,
        toegangscode, kod weryfikacyjny, kod jednorazowy, kod z sms, ověřovací kód, jednorázový kód,
        verifieringskod, engångskod, engangskode, bekræftelseskode, vahvistuskoodi, doğrulama kodu,
        doğrulama kodunu, tek kullanımlık kod, код из смс, код з смс, код подтверждения, одноразовый код,
        проверочный код, код підтвердження, одноразовий код, κωδικός επαλήθευσης, κωδικό επαλήθευσης,
        κωδικός μίας χρήσης, सत्यापन कोड, ओटीपी, mã xác minh, mã xác nhận, kode verifikasi, kode otp,
        認証コード, 確認コード, ワンタイム, 验证码, 驗證碼, 动态码, 인증번호, 인증 번호, 인증코드, 인증 코드,
        확인 코드, رمز التحقق, رمز التأكيد, קוד אימות, รหัสยืนยัน""",
    "credentials": """
        credentials, login credentials, login details, login data, sign in details, *credentials,
        access credentials, Zugangsdaten, Anmeldedaten, Anmeldeinformationen, Login-Daten,
        identifiants de connexion, vos identifiants, tes identifiants, données de connexion, credenciales,
        datos de acceso, credenziali, dati di accesso, credenciais, dados de acesso, dados de login,
        inloggegevens, dane logowania, danych logowania, poświadczenia, přihlašovací údaje,
        přihlašovacích údajů, inloggningsuppgifter, loginoplysninger, påloggingsinformasjon,
        kirjautumistiedot, giriş bilgileri, giriş bilgilerinizi, kimlik bilgilerinizi, учетные данные,
        учётных данных, данные для входа, логин и пароль, облікові дані, διαπιστευτήρια, στοιχεία σύνδεσης,
        लॉगिन विवरण, thông tin đăng nhập, 認証情報, ログイン情報, 登录凭证, 凭据, 憑證, 登入資訊, 자격 증명,
        자격증명, 로그인 정보, بيانات الاعتماد, بيانات الدخول""",
    "connection string": """
        connection string, connectionstring, *connectionstring, conn string, conn str, connstr, database url,
        db url, database uri, db uri, database dsn, db dsn, jdbc url, jdbc string, postgres url,
        postgresql url, mysql url, mongodb uri, mongo uri, redis url, Verbindungszeichenfolge,
        Verbindungsstring, chaîne de connexion, cadena de conexión, stringa di connessione, string de conexão,
        verbindingsreeks, verbindingsstring, ciąg połączenia, připojovací řetězec, anslutningssträng,
        bağlantı dizesi, строка подключения, строку подключения, рядок підключення, συμβολοσειρά σύνδεσης,
        接続文字列, 连接字符串, 連接字串, 연결 문자열, سلسلة الاتصال""",
    "security answer": """
        security answer, secret answer, answer to your security question, answer to the security question,
        maiden name, security question answer, answer to your secret question, Mädchenname der Mutter,
        Mädchenname Ihrer Mutter, Mädchennamen Ihrer Mutter, Geburtsname der Mutter, Sicherheitsantwort,
        nom de jeune fille, réponse secrète, réponse de sécurité, apellido de soltera, respuesta secreta,
        respuesta de seguridad, cognome da nubile, risposta segreta, risposta di sicurezza, nome de solteira,
        resposta secreta, meisjesnaam, nazwisko panieńskie, rodné příjmení matky, flicknamn,
        annenizin kızlık soyadı, kızlık soyadı, kızlık soyadınız, девичья фамилия, девичью фамилию,
        дівоче прізвище, πατρικό όνομα της μητέρας, 母親の旧姓, 秘密の質問, 母亲的娘家姓, 密保答案,
        어머니의 성함, اسم عائلة الأم""",
    "social security number": """
        ssn, social security number, social security no, social security num, social insurance number,
        national insurance number, aadhaar number, aadhar number, Sozialversicherungsnummer,
        numéro de sécurité sociale, número de la seguridad social, número de seguridad social,
        numero di previdenza sociale, burgerservicenummer, numer PESEL, PESEL, rodné číslo, personnummer,
        personnumret, kimlik numaranız, kimlik numaranızı, снилс, номер соцстрахования, マイナンバー,
        身份证号, 身分證號, 주민등록번호, رقم الضمان الاجتماعي""",
}
"""Secret wherever they stand in a label, unless the words beside them talk *about* secrets."""

AS_HEAD: Final = {
    "password": "pw, psw, pword",
    "API key": "secret, *secret, Geheimnis, segreto, secreto, segredo, секрет",
    "token": """
        token, *token, jwt, jeton, токен, जेटॉन, टोकन, cookie value, value of the cookie, value of your cookie,
        valeur du cookie, valor de la cookie, valore del cookie, valor do cookie,
        waarde van de cookie, wartość cookie, wartość ciasteczka, hodnotu cookie, çerez değerini, kakans värde,
        значение cookie, значение куки, значення cookie, τιμή του cookie, कुकी का मान, giá trị cookie,
        nilai cookie""",
    "private key": "keytab",
    "recovery phrase": "mnemonic",
    "card number": """
        card no, card nr, cc no, credit card no, credit card, creditcard, debit card, Kreditkarte,
        carte de crédit, carte bancaire, tarjeta de crédito, carta di credito, cartão de crédito,
        karta kredytowa, kreditní karta, kreditkort, kredi kartı, кредитная карта, банковская карта,
        πιστωτική κάρτα, क्रेडिट कार्ड, iban""",
    "PIN": "pin, *userpin, пин, पिन",
    "one-time code": "otp, *otp, totp, смс код, code in the SMS, code from the SMS, code of the SMS, code in our SMS",
    "social security number": "social security",
}
"""Secret only as the head of what is asked: `github_token` and `token`, but not `token_symbol`.

"PIN code" stands above and not here, although it is also India's word for a postal code: a bank PIN that leaks does
harm, a postal code that is refused costs its author one written excuse, and `delivery_pincode` passes by itself.
"""

ALONE: Final = {
    "password": "pass, clave, parola, κωδικός, κωδικό, sandi",
    "token": "bearer",
    "recovery phrase": "twelve words, 12 words, twenty four words, 24 words",
}
"""Secret only when nothing else is said: `pass` beside `user`, but not `ski_pass`."""

OWNED: Final = (
    (
        "API key",
        "key",
        """
        access, account, admin, activation, aes, application, auth, authentication, aws, azure, binance, bot,
        client, cloudflare, consumer, datadog, decryption, developer, encryption, gcp, gemini, github, gitlab,
        google, google maps, hmac, huggingface, license, licence, live, mailgun, master, notion, npm, openai,
        openrouter, paypal, pypi, security, sendgrid, service, service account, session, signing, slack,
        stripe, subscription, symmetric, telegram, twilio, unlock, vault, webhook""",
    ),
    ("private key", "key", "gpg, pgp, rsa, server, ssh, ssl, tls, wallet, x509"),
    ("password", "key, pass, pw", "network security, wifi, wi fi, wlan, wpa, wpa2, wep, router"),
    (
        "password",
        "pass, pw",
        """
        account, admin, app, bank, confirm, current, database, db, email, ftp, imap, keystore, ldap, login,
        mail, my, mysql, new, old, pg, postgres, proxy, redis, repeat, root, sftp, smtp, sql, ssh, ssl, sudo,
        user, your, zip""",
    ),
)
"""Ambiguous words that their owner makes a secret: `key` and `pass` by themselves say nothing."""

INNOCENT_BEFORE: Final = {
    "key": "public, publishable, primary, foreign, pub, publique, pública, publico, pubblica, öffentlicher",
    "token": """
        public, page, next, continuation, cursor, pagination, sync, design, special, stop, eos, bos, pad,
        mask, unk, game, utility, governance, erc, erc20, nft, crypto, native, output, input, prompt,
        completion, first, last, nth, each, every, syntax, parser, lexer, start, end, starting, ending, open,
        close, parent, curr, idempotency, progress, resumption, version, lock, word, reward, syntactic, ring,
        subway, board, swap""",
    "pin": """
        to, gpio, led, map, board, arduino, push, bowling, safety, hair, rolling, drawing, firing, lapel,
        enamel, input, output, io, data, clock, reset, analog, digital, cotter, pinterest, connector, ic,
        chip, location, drop""",
    "number": """
        library, membership, member, loyalty, playing, business, sim, index, graphics, report, trading, punch,
        id, identity, rewards, score, time, bingo, boarding, flyer, gpio, pinout, led, connector, arduino""",
    "pin code": """
        postal, area, delivery, shipping, address, city, locality, billing, zip, pickup, home, office,
        district, village""",
    "credentials": """
        academic, professional, teaching, press, medical, educational, teacher, clinical, journalistic""",
    "code": """
        coupon, promo, promotion, promotional, discount, voucher, booking, reservation, tracking, zip, postal,
        country,
        area, dress, qr, error, invite, invitation, referral, gift, product, exit, status, source, door, colour,
        color""",
    "secret": "trade, top, open, kept, family, industry, state",
}
"""By a phrase or its last word: what, directly before it, makes it something else."""

ALIKE: Final = {"pincode": "pin code", "cardnumber": "card number"}
"""Spellings in one word that share the row of another."""

LEET: Final = ("0o1i2z3e4a5s6g7t8b9g@a$s!i|l+t", "0o1l2z3e4a5s6b7t8b9q@a$s!l|i+t")
"""Two readings of each digit and sign, because 1 is now i and now l."""
