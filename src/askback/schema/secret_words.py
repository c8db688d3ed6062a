"""The words of the secret lint, in the languages people are asked in. Tables alone; how to read them is in `secrets`.

Phrases are parted by commas and written as people write them: accents, capitals and spaces are folded away when the
tables are read. A star stands for more letters: `парол*` begins a word, `*token` ends one, `*password*` is found inside.
Scripts that are written without spaces, or that glue articles to words, are found inside without a star.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class Stands(Enum):
    """Where a word has to stand in a label to ask for a secret; each has its table."""

    ANYWHERE = auto()
    AS_HEAD = auto()
    ALONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """What a phrase of these tables asks for."""

    kind: str
    text: str
    stands: Stands


def phrases(text: str) -> Iterator[str]:
    """The entries of one table."""
    return (phrase.strip() for phrase in text.split(",") if phrase.strip())


def secrets() -> Iterator[tuple[str, Secret]]:
    """Every phrase that names a secret, with its stars, and what it means."""
    for stands, kinds in ((Stands.ANYWHERE, ANYWHERE), (Stands.AS_HEAD, AS_HEAD), (Stands.ALONE, ALONE)):
        for kind, text in kinds.items():
            for phrase in phrases(text):
                yield phrase, Secret(kind=kind, text=phrase.strip("*"), stands=stands)
    for kind, things, owners in OWNED:
        for thing in phrases(things):
            for owner in phrases(owners):
                yield f"{owner} {thing}", Secret(kind=kind, text=f"{owner} {thing}", stands=Stands.ANYWHERE)


ANYWHERE: Final = {
    "password": """
        password, *password*, pass word, passwrd, pasword, passwd, *passwd*, *pwd, pwd, pswd, passw, passcode, pass code,
        *passcode*, passkey, pass key, passphrase, *passphrase*, pass phrase, secret word, secret phrase, secret code,
        Passwort, *passwort*, Pass Wort, Kennwort, *kennwort*, Passwörter, Geheimwort, Losungswort,
        mot de passe, *motdepasse*, mots de passe, mdp, phrase de passe, phrase secrète, code secret,
        contraseña, *contraseñ*, clave de acceso, clave secreta, clave personal, su clave, tu clave, frase de contraseña,
        parola d'ordine, parola chiave segreta, senha, senhas, *senha, palavra-passe, palavra passe, código de acesso,
        wachtwoord, *wachtwoord*, wachtzin, lösenord, *lösenord*, passord, *passord*, adgangskode, *adgangskode*, kodeord, *kodeord*, salasana, *salasan*, tunnussana*,
        hasło, hasła, hasłem, haseł, *haslo, heslo, hesla, heslem, hesel, *heslo, jelszó, jelsz*, parool*, slaptažod*, geslo,
        lozinka, lozink*, şifre, *şifre, şifre*, parolanı*, parolayı, parolam*, parola ta, parola dumneavoastră, пароль, *парол*, кодовое слово,
        кодова дума, секретное слово, κωδικός πρόσβασης, κωδικό πρόσβασης, κωδικού πρόσβασης, κωδικό σας,
        κωδικός σας, συνθηματικό, συνθηματικού, पासवर्ड, पासवर्ड*, कूटशब्द, गुप्त शब्द, mật khẩu, kata sandi, kata laluan, sandi anda,
        パスワード, パスフレーズ, パスコード, 暗証番号, 合言葉, 密码, 密碼, 口令, 通行码, 비밀번호, 패스워드, 암호, 비번,
        كلمة المرور, كلمة مرور, كلمة السر, كلمة سر, كلمات المرور, الرقم السري, گذرواژه, رمز عبور, סיסמה, סיסמא, סיסמת,
        הסיסמ, รหัสผ่าน""",
    "API key": """
        api key, *apikey*, api secret, *apisecret, api token, *apitoken, api credentials, secret key, *secretkey*,
        secret access key, secret api key, app secret, application secret, webhook secret, signing secret,
        API-Schlüssel, API Schluessel, API-Key, geheimer Schlüssel, clé API, clés API, clef API, clé d'API, clé secrète,
        clave API, clave de API, clave de la API, llave API, chiave API, chiavi API, chiave segreta, chave API,
        chave de API, chave da API, chave secreta, API-sleutel, geheime sleutel, klucz API, klucza API, tajny klucz,
        API klíč, klíč API, API-nyckel, hemlig nyckel, API-nøgle, API-nøkkel, API-avain, API anahtarı, API anahtarınızı,
        gizli anahtar, API ключ, ключ API, API ключа, ключа API, секретный ключ, секретного ключа, секретний ключ,
        κλειδί API, μυστικό κλειδί, API कुंजी, एपीआई कुंजी, गुप्त कुंजी, khóa API, kunci API,
        APIキー, API キー, 秘密のキー, シークレットキー, API密钥, API 密钥, API密鑰, API金鑰, 密钥, 密鑰, 金鑰, API키,
        비밀키, 시크릿 키, مفتاح API, مفتاح واجهة, المفتاح السري, מפתח API, คีย์ API""",
    "token": """
        access token, *accesstoken, auth token, *authtoken, authentication token, authorization token, bearer token,
        *bearertoken, refresh token, *refreshtoken, session token, id token, oauth token, personal access token,
        security token, deploy token, bot token, login token, reset token, service token, device token, csrf token,
        github pat, gitlab pat, azure pat, session cookie, auth cookie, authorization header, auth header,
        Zugriffstoken, Zugangstoken, *zugriffstoken, *zugangstoken, jeton d'accès, jeton d'API, jeton secret,
        jeton d'authentification, token d'accès, token de acceso, ficha de acceso, token di accesso, token de acesso,
        toegangstoken, token dostępu, tokenu dostępu, přístupový token, åtkomsttoken, adgangstoken, tilgangstoken,
        erişim belirteci, erişim jetonu, токен доступа, токена доступа, токен авторизации, токен бота,
        διακριτικό πρόσβασης, एक्सेस टोकन, アクセストークン, 認証トークン, トークン, 令牌, 訪問權杖, 權杖, 액세스 토큰, 토큰,
        رمز الوصول, رمز وصول, الرمز المميز""",
    "client secret": """
        client secret, *clientsecret, consumer secret, shared secret, oauth secret, preshared key, pre shared key, psk,
        Client-Geheimnis, secret du client, secreto de cliente, secreto del cliente, segreto del client,
        segredo do cliente, クライアントシークレット, 客户端密钥, 클라이언트 시크릿""",
    "private key": """
        private key, *privatekey*, pem key, rsa private key, ssh private key, privater Schlüssel, privaten Schlüssel,
        geheimen Schlüssel, clé privée, clef privée, clave privada, llave privada, chiave privata, chave privada,
        privésleutel, privé sleutel, klucz prywatny, klucza prywatnego, soukromý klíč, privat nyckel, privat nøgle,
        özel anahtar, приватный ключ, приватного ключа, закрытый ключ, закрытого ключа, приватний ключ, закритий ключ,
        ιδιωτικό κλειδί, निजी कुंजी, khóa riêng, 秘密鍵, 私钥, 私鑰, 私密金鑰, 개인키, 개인 키, المفتاح الخاص, מפתח פרטי""",
    "recovery phrase": """
        seed phrase, *seedphrase, recovery phrase, *recoveryphrase, mnemonic phrase, mnemonic seed, backup phrase,
        wallet phrase, wallet seed, word phrase, recovery words, seed words, recovery key, recovery seed,
        Wiederherstellungsphrase, Wiederherstellungsschlüssel, phrase de récupération, phrase mnémonique,
        frase semilla, frase de recuperación, frase seed, frase di recupero, frase de recuperação, frase semente,
        herstelzin, fraza odzyskiwania, obnovovací fráze, återställningsfras, kurtarma ifadesi, сид фраза, сид фразу,
        сид фразы, мнемоническая фраза, фраза восстановления, φράση ανάκτησης, シードフレーズ, リカバリーフレーズ, 助记词,
        助記詞, 恢复短语, 시드 구문, 니모닉, 복구 구문, عبارة الاسترداد""",
    "card number": """
        card number, card num, *cardnumber*, *cardnum, *cardno, *creditcardnumber*, cc number, cc num,
        ccnum, ccnumber, ccno, ccn, credit card number, credit card details, credit card info,
        credit card data, card details, card data, card info, bank card, debit card number, card pan, payment card,
        number of your card, number of your credit card, number on your card, bank account number,
        Kreditkartennummer, *kartennummer, Kreditkartendaten, Kartendaten, numéro de carte, numéro de la carte,
        numéro de carte bancaire, número de tarjeta, número de la tarjeta, número de tu tarjeta, número de su tarjeta,
        datos de la tarjeta, numero di carta, numero della carta, dati della carta, número do cartão, número de cartão,
        dados do cartão, kaartnummer, *kaartnummer, numer karty, numeru karty, dane karty, číslo karty, čísla karty,
        kortnummer, *kortnummer, luottokortin numero, kart numarası, kart numaranız*, kredi kartı numarası,
        номер карты, номера карты, номер банковской карты, номер вашей карты, данные карты, номер картки,
        номер карти, αριθμός κάρτας, αριθμό κάρτας, αριθμός πιστωτικής κάρτας, कार्ड नंबर, कार्ड संख्या, क्रेडिट कार्ड नंबर,
        nomor kartu, カード番号, クレジットカード, 信用卡号, 信用卡號, 银行卡号, 銀行卡號, 卡号, 卡號, 카드번호, 카드 번호,
        신용카드, رقم البطاقة, رقم بطاقة, بطاقة الائتمان, מספר כרטיס, เลขบัตรเครดิต""",
    "card security code": """
        cvv, cvc, cvv2, cvc2, cvn, *cvv, cvv code, cvc code, card code, card verification, card security code,
        security code, Sicherheitscode, Kartenprüfnummer, Prüfnummer der Karte, code de sécurité, cryptogramme visuel,
        código de seguridad, codice di sicurezza, código de segurança, beveiligingscode, kod bezpieczeństwa,
        bezpečnostní kód, säkerhetskod, güvenlik kodu, код безопасности, код безпеки, κωδικός ασφαλείας,
        सुरक्षा कोड, セキュリティコード, 安全码, 安全碼, 보안코드, 보안 코드, رمز الأمان""",
    "PIN": """
        pin code, pincode, pin number, bank pin, card pin, sim pin, atm pin, wallet pin, account pin, user pin, digit pin,
        Geheimzahl, PIN-Nummer, code PIN, código PIN, codice PIN, numer PIN, kod PIN, PIN kód, PIN kodu, пин код, пин кода,
        κωδικός PIN, पिन कोड, mã PIN, 핀번호, PINコード, PIN码, PIN碼""",
    "one-time code": """
        otp code, *otpcode, one time code, onetime code, one time password, one time pin, one time passcode, single use code,
        2fa, 2fa code, two factor code, mfa code, totp code, authenticator code, authentication code, auth code, *authcode,
        authorization code, verification code, *verificationcode, login code, access code, sms code, text message code,
        digit code, reset code, backup code, recovery code, code we sent, code we texted, code we emailed, code sent to you,
        code from your authenticator, code from the authenticator, code from your phone, code from the sms, transaction number,
        Einmalcode, Einmalpasswort, Einmalkennwort, Bestätigungscode, Verifizierungscode, Prüfcode, Anmeldecode, TAN-Nummer, SMS-TAN, mTAN,
        code de vérification, code à usage unique, code reçu par sms, code d'authentification, code d'accès,
        código de verificación, código de un solo uso, código de autenticación, código de acceso, código sms,
        codice di verifica, codice monouso, codice di accesso, código de verificação, código de uso único,
        verificatiecode, eenmalige code, toegangscode, kod weryfikacyjny, kod jednorazowy, kod z sms, ověřovací kód,
        jednorázový kód, verifieringskod, engångskod, engangskode, bekræftelseskode, vahvistuskoodi, doğrulama kodu,
        doğrulama kodunu, tek kullanımlık kod, код из смс, код з смс, код подтверждения, одноразовый код, проверочный код,
        код підтвердження, одноразовий код, κωδικός επαλήθευσης, κωδικό επαλήθευσης, κωδικός μίας χρήσης, सत्यापन कोड,
        ओटीपी, mã xác minh, mã xác nhận, kode verifikasi, kode otp, 認証コード, 確認コード, ワンタイム, 验证码, 驗證碼, 动态码,
        인증번호, 인증 번호, 인증코드, 인증 코드, 확인 코드, رمز التحقق, رمز التأكيد, קוד אימות, รหัสยืนยัน""",
    "credentials": """
        credentials, login credentials, login details, login data, sign in details, *credentials, access credentials,
        Zugangsdaten, Anmeldedaten, Anmeldeinformationen, Login-Daten, identifiants de connexion, vos identifiants,
        tes identifiants, données de connexion, credenciales, datos de acceso, credenziali, dati di accesso, credenciais,
        dados de acesso, dados de login, inloggegevens, dane logowania, danych logowania, poświadczenia,
        přihlašovací údaje, přihlašovacích údajů, inloggningsuppgifter, loginoplysninger, påloggingsinformasjon,
        kirjautumistiedot, giriş bilgileri, giriş bilgilerinizi, kimlik bilgilerinizi, учетные данные, учётных данных,
        данные для входа, логин и пароль, облікові дані, διαπιστευτήρια, στοιχεία σύνδεσης, लॉगिन विवरण, thông tin đăng nhập,
        認証情報, ログイン情報, 登录凭证, 凭据, 憑證, 登入資訊, 자격 증명, 자격증명, 로그인 정보, بيانات الاعتماد, بيانات الدخول""",
    "connection string": """
        connection string, connectionstring, *connectionstring, conn string, conn str, connstr, database url, db url,
        database uri, db uri, database dsn, db dsn, jdbc url, jdbc string, postgres url, postgresql url, mysql url, mongodb uri,
        mongo uri, redis url, Verbindungszeichenfolge, Verbindungsstring, chaîne de connexion, cadena de conexión,
        stringa di connessione, string de conexão, verbindingsreeks, verbindingsstring, ciąg połączenia, připojovací řetězec,
        anslutningssträng, bağlantı dizesi, строка подключения, строку подключения, рядок підключення,
        συμβολοσειρά σύνδεσης, 接続文字列, 连接字符串, 連接字串, 연결 문자열, سلسلة الاتصال""",
    "security answer": """
        security answer, secret answer, answer to your security question, answer to the security question, maiden name,
        security question answer, answer to your secret question, Mädchenname der Mutter, Mädchenname Ihrer Mutter,
        Mädchennamen Ihrer Mutter, Geburtsname der Mutter, Sicherheitsantwort, nom de jeune fille, réponse secrète,
        réponse de sécurité, apellido de soltera, respuesta secreta, respuesta de seguridad, cognome da nubile,
        risposta segreta, risposta di sicurezza, nome de solteira, resposta secreta, meisjesnaam, nazwisko panieńskie,
        rodné příjmení matky, flicknamn, annenizin kızlık soyadı, kızlık soyadı, kızlık soyadınız, девичья фамилия,
        девичью фамилию, дівоче прізвище, πατρικό όνομα της μητέρας, 母親の旧姓, 秘密の質問, 母亲的娘家姓, 密保答案,
        어머니의 성함, اسم عائلة الأم""",
    "social security number": """
        ssn, social security number, social security no, social security num, social insurance number,
        national insurance number, aadhaar number, aadhar number, Sozialversicherungsnummer, numéro de sécurité sociale,
        número de la seguridad social, número de seguridad social, numero di previdenza sociale, burgerservicenummer,
        numer PESEL, PESEL, rodné číslo, personnummer, personnumret, kimlik numaranız*, снилс, номер соцстрахования,
        マイナンバー, 身份证号, 身分證號, 주민등록번호, رقم الضمان الاجتماعي""",
}  # fmt: skip
"""Secret wherever they stand in a name or title, unless the words beside them make it a talk about secrets."""

AS_HEAD: Final = {
    "password": "pw, psw, pword, passw",
    "API key": "secret, *secret, Geheimnis, segreto, secreto, segredo, секрет",
    "token": "token, *token, jwt, jeton, токен, जेटॉन, टोकन",
    "recovery phrase": "mnemonic",
    "card number": "card no, card nr, cc no, credit card no, credit card, creditcard, debit card, Kreditkarte, carte de crédit, carte bancaire, tarjeta de crédito, "
    "carta di credito, cartão de crédito, creditcard, karta kredytowa, kreditní karta, kreditkort, kredi kartı, "
    "кредитная карта, банковская карта, πιστωτική κάρτα, क्रेडिट कार्ड, iban",
    "PIN": "pin, *userpin, пин, पिन",
    "one-time code": "otp, *otp, totp, смс код",
    "social security number": "social security",
}
"""Secret only as the head of what is asked: `github_token` and `token`, but not `token_symbol` or `Secret Santa budget`.

"PIN code" stands above and not here although it is also India's word for a postal code: a bank PIN that leaks does harm,
a postal code that is refused costs its author one written excuse, and `delivery_pincode` passes by itself.
"""

ALONE: Final = {
    "password": "pass, clave, parola, lösen, passe, κωδικός, κωδικό, sandi",
    "token": "bearer",
}
"""Secret only when nothing else is said: `pass` beside `user`, but not `ski_pass`."""

OWNED: Final = (
    (
        "API key",
        "key",
        """access, account, admin, activation, aes, anthropic, application, auth, authentication, aws, azure, binance,
        bot, claude, client, cloudflare, consumer, datadog, decryption, developer, encryption, gcp, gemini, github, gitlab,
        google, google maps, hmac, huggingface, license, licence, live, mailgun, master, notion, npm, openai, openrouter,
        paypal, pypi, security, sendgrid, service, service account, session, signing, slack, storage, stripe,
        subscription, symmetric, telegram, twilio, unlock, vault, webhook""",
    ),
    ("private key", "key", "gpg, pgp, rsa, server, ssh, ssl, tls, wallet, x509"),
    ("password", "key, pass, pw", "network security, wifi, wi fi, wlan, wpa, wpa2, wep, router"),
    (
        "password",
        "pass, pw",
        """account, admin, app, bank, confirm, current, database, db, email, ftp, imap, keystore, ldap, login, mail, my,
        mysql, new, old, pg, postgres, proxy, redis, repeat, root, sftp, smtp, sql, ssh, ssl, sudo, user, your, zip""",
    ),
)
"""Ambiguous words that their owner makes a secret: `key` and `pass` by themselves say nothing."""

ABOUT: Final = """
    age, algorithm, brand, change, changed, changes, charset, chars, characters, color, colour, company, complexity, contract,
    count, counts, creation, date, days, deadline, deletion, description, digits, encoder, endpoint, entropy,
    comment, event, explanation, expiration, expired, expires, expiry, extension, fee, fees, file, filename, folder, format, generator, hint, hints,
    history, holder, icon, id, identifier, ids, index, interval, issuer, item, kind, label, len, length, lengths, less,
    leak, leaks, lifetime, limit, limits, list, location, loss, manager, managers, name, names, nickname, note, owner, path, plan,
    policies, policy, position, prefix, protection, protected, provider, purpose, quality, quota, reason, recovery, removal,
    renewal, requirement, requirements, reset, resets, retention, reuse, revocation, role, rotation, rule, rules, scope,
    scopes, score, setting, settings, size, standard, status, store, storage, strategy, strength, style, summary, symbol, tip, title,
    ttl, txt, type, types, update, updated, usage, validity, vault, vendor, version, warning,
    Länge, Laenge, Richtlinie, Richtlinien, Regel, Regeln, Stärke, Änderung, Wechsel, Ablauf, Alter, Verwaltung,
    Verwalter, Hinweis, Grund, Art, Bezeichnung, Dauer, Rücksetzung, Zurücksetzung, Datei,
    longueur, politique, gestionnaire, durée, nom, raison, indice, type, expiration, réinitialisation,
    longitud, política, gestor, nombre, motivo, razón, caducidad, pista, tipo, cambio, duración,
    lunghezza, gestore, nome, durata, scadenza, cambio, motivo, comprimento, tamanho, gerenciador, validade, dica,
    lengte, beleid, beheerder, naam, reden, długość, polityka, menedżer, nazwa, powód, délka, správce, název, důvod,
    längd, policy, hanterare, namn, uzunluğu, politikası, yöneticisi, adı, длина, длину, политика, менеджер, название, имя,
    причина, причину, срок, довжина, назва, μήκος, πολιτική, όνομα, लंबाई, नीति, नाम
"""
"""Said of a secret, these ask about it and not for it: `password_length`, "name of the API key"."""

ABOUT_MANY: Final = "number, amount, quantity, sum, total, Anzahl, Zahl, nombre, número, numero, aantal, liczba, počet, antal, sayısı, количество"
"""Ask about secrets only in the plural: "number of passwords", but not "number of your credit card"."""

ABOUT_UNSPACED: Final = """
    長さ, 文字数, 桁数, 数, ポリシー, 强度, 強度, 有効期限, 期限, マネージャ, 名, 種類, 种类, 类型, 類型, ヒント, 規則, 规则, リセット, 変更,
    管理, 上限, 更新, 重置, 修改, 策略, 长度, 長度, 数量, 个数, 提示, 学, 學, 位数, 길이, 정책, 강도, 개수, 수, 관리, 이름, 종류, 만료, 변경, 재설정,
    힌트, 화
"""
ABOUT_UNSPACED_BEFORE: Final = "طول, عدد, سياسة, اسم, سبب, אורך, מדיניות, שם, ความยาว, จำนวน"

MODIFIERS: Final = """
    min, max, minimum, maximum, minimal, maximal, minimale, maximale, mindest, last, next, default, average, total, avg, reset,
    change, rotation, expiry, recovery, manager
"""
"""May stand between a secret and what is asked about it: `password_min_length`."""

QUANTITIES: Final = "max, min, maximum, minimum, total, num, count, avg, average, per, number of, how many"

INNOCENT_BEFORE: Final = {
    "key": "public, publishable, primary, foreign, pub, publique, pública, publico, pubblica, öffentlicher",
    "token": """public, page, next, continuation, cursor, pagination, sync, design, special, stop, eos, bos, pad, mask, unk, game,
        utility, governance, erc, erc20, nft, crypto, native, output, input, prompt, completion, first, last, nth, each, every,
        syntax, parser, lexer, start, end, starting, ending, open, close, parent, curr, idempotency, progress, resumption, version, lock, word, reward, syntactic, ring, subway, board, swap""",
    "pin": """to, gpio, led, map, board, arduino, push, bowling, safety, hair, rolling, drawing, firing, lapel, enamel, input, output,
        io, data, clock, reset, analog, digital, cotter, pinterest, connector, ic, chip, location, drop""",
    "number": """library, membership, member, loyalty, playing, business, sim, index, graphics, report, trading, punch, id, identity,
        rewards, score, time, bingo, boarding, flyer, gpio, pinout, led, connector, arduino""",
    "code": "postal, area, delivery, shipping, address, city, locality, billing, zip, pickup, home, office, district, village",
    "credentials": "academic, professional, teaching, press, medical, educational, teacher, clinical, journalistic",
    "secret": "trade, top, open, kept, family, industry, state",
}
"""By the last word of a phrase: what, just before it, makes it something else."""

ALIKE_LAST: Final = {"pincode": "code", "cardnumber": "number", "tokens": "token", "keys": "key"}

ARTICLES: Final = """
    a, an, any, current, existing, her, his, its, my, new, old, our, own, personal, secret, the, their, this, ur, your, s,
    dein, deine, deinen, ihr, ihre, ihren, das, den, der, die, ein, eine, neu, neue, neues, le, la, les, l, un, une, votre, vos, ton,
    ta, nouveau, nouvelle, el, los, las, su, sus, tu, tus, nueva, nuevo, il, lo, tua, tuo, sua, suo, nuova, seu, seus, nova, novo, minha, uw, je, jouw,
    het, een, de, nieuw, nieuwe, twoje, twój, swoje, nowe, vaše, tvoje, své, nové, ditt, din, nytt, dit, nyt, yeni, senin, sizin, ваш,
    ваша, ваше, твой, твоя, свой, новый, новая, новий, σας, το, τον, την, ο, η, νέος, νέο, अपना, आपका, नया
"""
"""May stand between a word and the secret it is about."""

FILLERS: Final = (
    ARTICLES
    + """,
    again, and, below, box, confirm, confirmation, enter, field, form, here, hidden, i, input, is, it, just, me, mine, now, only,
    optional, or, p, please, pls, plz, repeat, repeated, required, retype, second, string, text, thanks, thank, that, too, type,
    value, verify, we, you, yours, t, bitte, wiederholen, bestätigen, und, oder, svp, confirmer, et, ou, confirmar, repetir, y, o, por,
    favor, conferma, e, per, favore, bevestig, herhaal, en, of, aub, powtórz, proszę, i, lub, prosím, tack, lütfen, пожалуйста, і, и,
    або, или, παρακαλώ, कृपया"""
)
"""Add nothing to a label: "Your new password, please" is still only the secret."""

FOLLOWERS: Final = """
    of, for, to, from, in, on, at, with, by, used, shown, so, because, before, after, then, when, while, if, which, who, where, as, until,
    via, into, über, für, von, aus, zu, zum, zur, im, mit, auf, pour, de, du, des, d, dans, avec, del, para, con, desde, di, da, do, del,
    della, per, dla, z, do, pro, för, från, till, og, och, için, для, от, из, к, на, в, з, για, από, के, लिए, का, की, को, issued, value, key,
    required, needed, eingeben, angeben, girin, giriniz, code, that, not, nicht, niet, goes, must, must be
"""
"""May follow a secret that is the head of its phrase: "token for GitHub", "PIN of the card"."""

LINKS: Final = """
    of, for, to, about, behind, in, on, with, using, from, by, via, into, per, as, von, für, des, der, zum, zur, de, du, des, del, della, dello, di, da, do, para, pour, d, van, voor,
    för, till, dla, pro, для, от, για, του
"""

DEMANDS: Final = """
    enter, re enter, reenter, type, type in, retype, provide, give, supply, paste, input, insert, share, send, tell, submit, write, fill in,
    key in, put, let me know, let us know, specify, confirm, verify, reveal, disclose, state, drop, post, hand over, text me, reply with,
    respond with, answer with, copy, choose, pick, set, create your, make up, think of, say, spell, message me, dm me, forward, show me, add,
    log in with, login with, sign in with, authenticate with, authenticate using, unlock with, log in using, sign in using, attach, repeat,
    geben, gib, gebe, nenne, nennen, tippe, tippen, trage, tragen, teile, teilen, sende, senden, schicke, schicken, schreibe, schreiben, füge,
    fügen, verrate, verraten, wähle, wählen, hinterlege,
    entrez, entre, entrer, saisissez, saisis, saisir, donnez, donne, fournissez, fournis, fournir, indiquez, indique, tapez, tape, collez,
    colle, envoyez, envoie, communiquez, renseignez, renseigner, écrivez, choisissez,
    introduzca, introduce, introducir, ingrese, ingresa, ingresar, escriba, escribe, escribir, proporcione, proporciona, proporcionar,
    indica, pegue, pega, envíe, envía, digite, digita, dame, dime, deme, dígame, facilite, teclee, comparte, comparta,
    inserisci, inserire, inserisca, immetti, immettere, digitare, fornisci, fornire, fornisca, scrivi, scriva, incolla, incollare, invia,
    dammi, dimmi, mi dia, comunica, insira, introduza, informe, forneça, escreva, cole, envie, inserir, digitar, fornecer, informar, diga,
    voer, vul, typ, geef, plak, stuur, noem, verstrek, podaj, podać, wpisz, wprowadź, wklej, prześlij, wyślij, napisz, proszę podać,
    zadejte, zadej, zadajte, vložte, vlož, napište, uveďte, pošlete, vyplňte, ange, skriv, mata, fyll, klistra, skicka, uppge, indtast, indsæt,
    oppgi, angi, tast, syötä, kirjoita, liitä, adja meg, add meg, írja, introduceți, introdu, dați, unesite, upišite,
    введите, введи, ввести, укажите, укажи, напишите, напиши, вставьте, вставь, пришлите, пришли, сообщите, сообщи, предоставьте, отправьте,
    дайте, назовите, наберите, скажите, введіть, вкажіть, напишіть, вставте, надішліть, надайте, повідомте, въведете, посочете,
    εισάγετε, εισαγάγετε, πληκτρολογήστε, δώστε, γράψτε, επικολλήστε, στείλτε, nhập, cung cấp, masukkan, ketik, berikan
"""
"""Said to a person, these ask for what follows; said of ourselves ("shall I send the token?") they do not."""

WANTS: Final = """
    what is, what s, whats, what are, what was, what would be, i need, we need, i want, we want, i require, we require, need your, needs your,
    requires your, requires a, requires an, requires the, needs a, needs an, needs the, i would like, i d like, we would like, ask for, asking for,
    asks for, ask you for, requesting, request your, may i have, can i have, could i have, can i get, could i get, may i get, can we have,
    could we have, may we have, let me have, let me see, can i see, may i see, i have to know, i need to know, need to have, must have your,
    want your, waiting for your, looking for your, remind me of, prompt for,
    was ist, wie lautet, wie lauten, wie ist, ich brauche, wir brauchen, benötige, benötigen, brauche, ich benötige,
    quel est, quelle est, quels sont, quelles sont, j ai besoin, nous avons besoin, il me faut, cuál es, cuáles son, necesito, necesitamos,
    qual è, quali sono, ho bisogno, mi serve, abbiamo bisogno, qual é, quais são, preciso, precisamos, wat is, wat zijn, ik heb,
    jakie jest, jaki jest, jakie masz, potrzebuję, potrzebny, jaké je, jaký je, aké je, potřebuji, vad är, jag behöver, hvad er, hva er,
    mikä on, tarvitsen, mi a, care este, какой у вас, какой у тебя, каков, какой ваш, мне нужен, нам нужен, мне нужны, нужен ваш, який у вас,
    який ваш, мені потрібен, ποιος είναι, ποιο είναι, ποια είναι, χρειάζομαι, apa
"""

AFTERS: Final = """
    required, is required, needed, requested, goes here, must be entered, must be provided, to be entered, to be provided, mandatory,
    eingeben, angeben, eintragen, eintippen, mitteilen, nennen, erforderlich, benötigt, notwendig, senden, schicken, einfügen,
    requis, requise, nécessaire, obligatoire, requerida, requerido, necesaria, obligatoria, richiesta, richiesto,
    necessaria, obbligatoria, obrigatória, necessária, invoeren, in te voeren, invullen, opgeven, vereist, nodig, verplicht,
    wymagane, wymagany, potrzebne, vyžadováno, povinné, krävs, kræves, kreves, vaaditaan,
    girin, giriniz, gir, yazın, yazınız, yaz, yapıştırın, paylaşın, gönderin, belirtin, nedir, gerekli, söyleyin,
    требуется, нужен, обязателен, потрібен, απαιτείται,
    दर्ज, डालें, डालिए, बताएं, बताइए, दें, दीजिए, लिखें, भरें, प्रदान, क्या है, आवश्यक, là gì
"""
"""Ask when they follow the secret: "Passwort eingeben", "şifrenizi girin", "API key required"."""

IT: Final = """
    paste it, paste them, paste here, paste below, enter it, enter them, type it, send it to me, give it to me, share it with me, send me it,
    provide it, put it here, put it below, submit it, copy it here, copy it below, fill it in, tell me it, insert it, drop it here
"""
"""Ask for what was named before: "Create a token on GitHub. Paste it here."."""

WHICH: Final = "what, which, welches, welcher, welchen, quel, quelle, qué, cuál, quale, qual, welk, jakie, jaké, vilket, hangi, какой, який, ποιο"
"""Ask when the secret follows at once and nothing is to be done to it: "which password do you use"."""

ASKS_UNSPACED: Final = """
    入力, 教えて, 提供, 記入, 貼り付け, ペースト, 送って, 送信, お知らせ, 必要, 何ですか, は何, いただけ, 設定してください, 输入, 輸入, 填写, 填寫, 告诉, 告訴, 粘贴, 貼上,
    发送, 發送, 发给, 是什么, 是什麼, 是多少, 给我, 給我, 请给, 입력, 알려, 제공, 붙여, 보내, 무엇, 적어, 말해, 필요, 뭐, 주세요,
    أدخل, ادخل, إدخال, اكتب, أرسل, الرجاء, يرجى, ما هي, ما هو, قدم, أعطني, زود, أخبرن, وارد کنید, הזן, הזינו, הכנס, הקלד, הקלידו, מהי, מה ה, שלח, גרור,
    กรอก, ใส่, ป้อน, ระบุ, พิมพ์
"""
GENITIVES: Final = "の的의를を는은は"

NEGATED_UNSPACED: Final = """
    ないで, しない, 不要です, 必要ありません, 不要输入, 不要輸入, 勿, 别, 不要提供, 无需, 不需要, 不要在, 지 마, 지마, 않, 불필요, 없이, لا تدخل, لا تكتب, لا ترسل, لا تقدم,
    بدون, אל ת, ללא, อย่า, ไม่ต้อง
"""
FILLERS_UNSPACED: Final = "请, 請, 您的, 你的, 的, は, を, の, お, ご, あなた, ください, 下さい, 新しい, 新, 는, 은, 을, 를, 당신의, 새, الخاصة بك, الجديدة, ใหม่"

NEGATIONS: Final = """
    do not, dont, don t, never, never ever, must not, mustnt, mustn t, should not, shouldnt, shouldn t, will not, wont, won t, cannot, can not,
    cant, can t, need not, neednt, no need to, not have to, not need to, not required to, without, not to, refuse to, nicht, niemals, nie,
    no, non, não, nunca, mai, jamais, ne jamais, ne pas, niet, nooit, nigdy, nie, nikdy, ne, inte, aldrig, ikke, не, никогда, ніколи, μη, μην, न, मत, không, jangan
"""
"""Directly before a demand; "why not enter" and "do not hesitate to enter" stay demands."""

NEGATED_AFTER_DEMAND: Final = "pas, jamais, nooit, nie, niemals, aldrig, nicht, ikke, inte"

NO_SECRET: Final = """
    not, no, without, never, except, rather than, instead of, other than, kein, keine, keinen, ohne, nicht, sans, pas, pas de, sin, no, non, senza, sem,
    não, geen, zonder, bez, nie, utan, inte, uden, uten, ikke, без, не, χωρίς, होने, बिना
"""
"""Directly before a secret, with nothing but an article between: "your name, not your password"."""

NO_SECRET_AFTER: Final = "nicht ein, nicht an, hier nicht ein, hier nicht an, nicht preis, nicht weiter, niet in, hier niet in, inte här, ikke her, मत"

BUT: Final = "but, instead, rather, sondern, sino, mais, ma, mas, maar, ale, utan, men, но"
"""Turn a refused demand round: "do not type your name but your password"."""

CLAUSES: Final = """
    why, whether, if, when, how, who, whom, whose, which, what, where, because, since, until, unless, although, does, did, that the, that a,
    that an, that all, that your, that this, that these, that we, that you, that i, that it, warum, ob, wenn, wie, wer, dass, weil, pourquoi, si, quand, comment, qui, que, parce, cuando, por qué, cómo, quién, porque, perché, quando,
    chi, waarom, wanneer, hoe, wie, dlaczego, czy, kiedy, jak, kto, proč, zda, jestli, kdy, varför, om, när, hur, почему,
    если, когда, как, кто, что, чому, якщо, γιατί, αν, πότε, πώς
"""
"""Begin a thought of their own, so that what follows is no longer what was demanded."""

MENTIONS: Final = """
    abort, acquire, approve, archive, archived, audit, bad, block, blocked, broken, build, call, cancel, changed, check, checking, clear, compare, compromised, contains, convert, create, created, creates, count, counting, counts, deactivate, decrypt,
    delete, deleted, deleting, deletion, deny, detect, deploy, detected, disable, disabled, describe, discard, does, done, extract, find, encrypt, encrypted, exists, expire, expired, expires,
    expiring, exposed, failed, fix, forget, forgot, forgotten, found, export, generate, generated, got, happened, hide, holds, hash, ignore, investigate, import, incorrect, invalid,
    keep, leak, leaked, list, load, log, logging, look, lost, make, mask, matches, mean, mention, mentioned, mentions, migrate, missing, monitor, move, moved, open, owns, parse, print, protect, publish, purge, push, read,
    reads, redact, regenerate, refresh, refreshed, rejected, remove, removed, removing, rename, renew, renewed, replace, replaced, report, reset, resetting, restore, retrieve, return, returns, review,
    revoke, revoked, revoking, rotate, rotated, rotating, rotation, save, saved, scan, search, sign, skip, spend, stolen, stop, store, stored, stores, storing, swap, sync, test, trim,
    update, updated, updating, upload, valid, wait, wipe, wrong, löschen, ändern, zurücksetzen, widerrufen, supprimer,
    révoquer, changer, eliminar, cambiar, borrar, cambiada, eliminare, cambiare, excluir, nezadávejte, trocar, verwijderen, wijzigen, usunąć, zmienić,
    zmieniono, smazat, změnit, ändra, удалить, сменить, изменить, изменен, изменён, сброшен, видалити, змінити, sil, değiştir
"""
"""Something happens, or happened, to a secret: talk about it, not a request for it."""

STATES: Final = """
    is, are, was, were, been, be, has, have, had, will, would, shall, should, can, could, may, does, do, did, don, i, we, wurde, ist, sind, war, soll, sollen, été,
    est, sont, es, fue, está, è, stata, stato, foi, está, is, zijn, werd, jest, został, zostało, je, bylo, är, har, er, blev, был, была, है, था
"""
"""Make a sentence of what would be a label: "your password was changed"."""

JOINERS: Final = "and, or, plus, with, und, oder, mit, et, ou, avec, y, o, con, e, en, i, och, og, ve, и, або, или, και, और"

OURSELVES: Final = "i, we, ich, wir, je, nous, yo, nosotros, io, noi, eu, nós, ik, wij, jag, vi, я, мы, ми"
AUXILIARIES: Final = "will, shall, should, can, could, may, must, would, ll, d, just, now, also, then, werde, soll, sollen, kann, vais, puedo, posso"
QUESTION_STARTS: Final = (
    "is, are, was, were, does, do, did, should, shall, can, ist, sind, soll, sollen, darf, kann, est, es, è"
)

LEET: Final = ("0o1i2z3e4a5s6g7t8b9g@a$s!i|l+t", "0o1l2z3e4a5s6b7t8b9q@a$s!l|i+t")
"""Two readings of each digit and sign, because 1 is now i and now l."""
