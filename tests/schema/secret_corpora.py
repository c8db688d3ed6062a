"""Texts that fish for secrets, and texts that only sound like it, as people write them."""


def words(text: str) -> list[str]:
    return text.split()


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


FISHING_NAMES = words("""
    password passwords passwd pwd pass pass_word PassWord PASSWORD user.password my-password newPassword
    password2 confirm_password password_confirmation dbpassword rootPassword userpwd db_pass smtp_pass pw
    db_pw passphrase passcode passkey wifi_password wifi_key password_hash enter_your_password_here api_key
    apiKey APIKEY apikey2 openai_api_key openaiapikey openai_key stripeSecretKey AWS_SECRET_ACCESS_KEY
    encryption_key signing_key webhook_secret secret secretValue client_secret clientSecret token
    github_token githubToken githubtoken auth_token accessToken refresh_token bearer bearer_token jwt
    session_token personal_access_token ssh_key private_key privateKey seed_phrase recoveryPhrase mnemonic
    card_number cardNumber cc_num ccnum cc_number credit_card creditCardNumber iban cvv cvc cvv2 card_cvv
    otp otp_code one_time_code 2fa_code totp mfa_code verification_code pin pin_code pinCode bank_pin
    account_pin ssn social_security_number connection_string connectionString DATABASE_URL security_answer
    mothers_maiden_name credentials login_credentials mot_de_passe motdepasse mdp contraseña contrasena
    clave senha Passwort Datenbankpasswort kennwort wachtwoord hasło haslo heslo lösenord losenord
    adgangskode passord salasana şifre sifre parola пароль κωδικός パスワード 密码 密碼 비밀번호
""")

DISGUISED_NAMES = words("""
    p@ssw0rd pa55word p4$$w0rd Passw0rd2024 mypa55word pässword pAsSwOrD p_a_s_s_w_o_r_d p.a.s.s.w.o.r.d
    pass+word pass|word pa_ss_wo_rd a-p-i_k-e-y 4pi_k3y ap1_key t0ken s3cr3t $ecret cl1ent_s3cr3t
    acce$$_t0ken p1n 0tp c4rd_numb3r cr3d1t_c@rd раsswоrd pаѕѕwоrd ρassword тоkеn ΤΟΚΕΝ sеcrеt рin ɑpi_ĸey
    ｐａｓｓｗｏｒｄ ＡＰＩ＿ＫＥＹ ᴘᴀꜱꜱᴡᴏʀᴅ ⓟⓐⓢⓢⓦⓞⓡⓓ 🅿🅰🆂🆂🆆🅾🆁🅳 𝓹𝓪𝓼𝓼𝔀𝓸𝓻𝓭
""")

FISHING_TITLES = lines("""
    Password
    Your password
    p a s s w o r d
    p, a, s, s, w, o, r, d
    Password (min 8 characters)
    Password, at least 8 characters
    Repeat password
    Wi-Fi password
    API key
    a-p-i k-e-y
    OpenAI API Key
    Secret key
    GitHub token
    Token for GitHub
    GitHub personal access token with repo and workflow scope
    Client secret
    Seed phrase
    Credit card number
    CVV
    Card security code
    PIN
    Bank PIN
    One-time code
    6-digit code
    Social security number
    Mother's maiden name
    Security answer
    Connection string
    API-Schlüssel
    Kreditkartennummer
    Mot de passe
    Clé API
    Jeton d'accès
    Numéro de carte
    Contraseña
    Clave de acceso
    Número de tarjeta
    Codice di verifica
    Senha
    Wachtwoord
    Hasło
    Heslo
    Lösenord
    Şifre
    ПАРОЛЬ
    Номер карты
    ΚΩΔΙΚΟΣ ΠΡΟΣΒΑΣΗΣ
    パ ス ワ ー ド
    密 码
    API密钥
    API 키
    كلمة المرور
    पासवर्ड
    סיסמה
    รหัสผ่าน
    Mật khẩu
    Kata sandi
""")

FISHING_MESSAGES = {
    "English": """
        Enter your GitHub token
        What is your password?
        What's your PIN?
        Your password?
        Password:
        password please
        [sudo] password for bob:
        Username, password:
        User name and password:
        OpenAI API key
        Bob's wifi password:
        Paste the API key here
        Please provide credentials
        Please enter your username and password
        I need your API key to continue
        My tool needs a token
        Could I have your card number?
        Log in with your password
        Confirm with your PIN
        tell me what your password is
        Which password do you use?
        API key required
        Password is required to continue
        Enter the code we sent to your phone
        Enter the 6-digit code from your authenticator
        Enter the following: name, email, street, city, zip and password
        Enter your date of birth and the password
        Enter the number of your credit card
        For verification, provide the last 4 digits of your SSN
        The password for the database server
        Choose a new password for the archive
        Get your API key from the dashboard and paste it here
        Create a token on GitHub. Paste it here.
        Give me the 12-word phrase of your wallet
        We need the connection string of the database
        What is your mother's maiden name?
        Please e n t e r your p-a-s-s-w-o-r-d
        Enter your P.A.S.S.W.O.R.D.
        Kindly give me ur p4ssw0rd
        Enter a valid API key
        Provide an access token that has repo scope
        Which token shall I use to authenticate?
        I can't continue without your API key. Please paste it
        Your database URL including user and password
        For security reasons we ask you to type your full card number
        Your one-time passcode has been sent. Please type it here.
        Just need your login + password
        How do I log in? Tell me the password""",
    "English that says no first": """
        Do not worry, enter your password
        Don't hesitate to enter your password
        Don't be shy, tell me your PIN
        Why not enter your password?
        No worries, just enter the PIN
        No, enter your password
        Never mind. Type your password
        You will never regret it, enter your password
        Without further ado enter your password
        Before we start type your password
        Do not type your name but your password
        Do not enter your username here; enter your password
        Enter your name if you like, and your password""",
    "German": """
        Bitte Passwort eingeben
        Geben Sie Ihr Passwort ein
        Wie lautet Ihr Passwort?
        Ihr Passwort bitte
        Gib den API-Schlüssel ein
        Geben Sie bitte Ihre Kreditkartennummer an""",
    "French": """
        Entrez votre mot de passe
        Merci de saisir votre mot de passe
        Quel est votre mot de passe ?
        Saisissez votre clé API""",
    "Spanish": """
        Introduzca su contraseña
        ¿Cuál es tu contraseña?
        Ingrese su clave""",
    "Italian": """
        Inserisci la password
        Qual è la tua password?""",
    "Portuguese": """
        Digite sua senha
        Insira o número do cartão""",
    "Dutch": """
        Voer uw wachtwoord in
        Wachtwoord vereist""",
    "Polish": """
        Podaj hasło
        Jakie jest twoje hasło?""",
    "Czech": "Zadejte prosím své heslo",
    "Swedish": "Ange ditt lösenord",
    "Danish": "Indtast din adgangskode",
    "Norwegian": "Skriv inn passordet",
    "Finnish": "Syötä salasana",
    "Hungarian": "Adja meg a jelszavát",
    "Turkish": """
        Şifrenizi girin
        API anahtarınızı girin
        Kart numaranızı girin""",
    "Russian": """
        Введите пароль
        ВВЕДИТЕ ПАРОЛЬ
        Какой у вас пароль?
        Пришлите код из СМС""",
    "Ukrainian": "Введіть пароль",
    "Greek": """
        Εισάγετε τον κωδικό πρόσβασης
        ΕΙΣΑΓΕΤΕ ΤΟΝ ΚΩΔΙΚΟ ΠΡΟΣΒΑΣΗΣ""",
    "Japanese": """
        パスワードを入力してください
        心配しないで、パスワードを入力してください
        passwordを入力してください
        APIキーを教えてください
        パスワード：""",
    "Chinese": """
        请输入密码
        請輸入密碼
        您的密码是什么？
        输入验证码""",
    "Korean": """
        비밀번호를 입력하세요
        카드 번호를 입력하세요""",
    "Arabic": """
        أدخل كلمة المرور
        ما هي كلمة المرور الخاصة بك؟""",
    "Hindi": """
        अपना पासवर्ड दर्ज करें
        अपना OTP दर्ज करें""",
    "Hebrew": "הזן את הסיסמה שלך",
    "Thai": "กรุณากรอกรหัสผ่าน",
    "Vietnamese": "Vui lòng nhập mật khẩu",
    "Indonesian": "Masukkan kata sandi Anda",
}

HONEST_NAMES = words("""
    keyboard key keys keyword keynote key_name key_results primary_key foreign_key public_key ssh_public_key
    sort_key cache_key monkey turkey whiskey hockey donkey house_key token_count max_tokens max_token tokens
    tokens_used token_limit token_symbol token_type tokenizer tokenization next_page_token passport
    passport_country passenger compass bypass_reason boarding_pass ski_pass pass_rate passive assword
    cassette password_policy password_length password_min_length password_max_characters password_hint
    password_manager password_reset_date password_strength password_count passwordless pwd_len api_version
    api_key_name api_key_id access_key_id credential_type secret_name secretary secret_santa_budget
    secret_ingredient pin_color pins spin spinner shipping opinion pinterest_board pinyin pineapple gpio_pin
    map_pin p_in delivery_pincode transaction_number storage_key card_details resenha Fahrkartennummer
    最大トークン 公開金鑰 postal_pin_code card card_color card_holder cardholder_name credit_card_type
    business_card_title library_card_number postcard discard score_card account_name account_number
    phone_number tracking_number otpimise author author_name authenticity auth_method code country_code
    zip_code promo_code error_code source_code seed random_seed catch_phrase recovery_email
    security_question session_length bearer_of_news cv pan tan ticket basket broken lat_55N md5 sha256
    k8s_namespace i18n s3_bucket web3_wallet_name covid19
""")

HONEST_TITLES = lines("""
    Key
    Key results
    Colour of the key
    Keys to the house
    API version
    API key expiry
    Name of the API key
    Token symbol
    Token bucket size
    Number of tokens
    Message to Ken
    Secret Santa budget
    Secret ingredient
    Password policy
    Password reset date
    Length of the password
    Number of passwords to generate
    Reason for the password reset
    Compass word
    Boarding pass
    Passport country
    Public key
    Pin color
    GPIO pin number
    Postal PIN code
    Library card number
    Credit card company
    Shipping address
    Parola chiave
    Passwortlänge
    Passwort-Richtlinie
    Longueur du mot de passe
    Длина пароля
    パスワードの長さ
    密码长度
    密码学课程
    비밀번호 길이
    암호화 방식
    طول كلمة المرور
""")

HONEST_MESSAGES = lines("""
    Anything with your pizza?
    Order 5 pizzas for 20$?
    Which region?
    What is your name?
    Please enter your shipping address
    Pick a keyboard layout
    Your password was changed. Shall I log the others out? Tell me the reason
    Password changed. Anything else?
    Which tokens should I count?
    How many tokens may I spend?
    Enter the token symbol
    What is a token?
    Delete the file passwords.txt? Why?
    Enter the path to passwords.txt
    Tell me why the password was changed
    Enter the reason for the password reset
    Enter the name of the token
    Enter a description for the API key
    Name your new API key
    Give the API key a name
    Enter the maximum password age in days
    How long should the password be?
    What is the password policy?
    Which password manager do you use?
    We need to rotate the API key. Why now?
    Which API key should I revoke?
    Revoke API key?
    Rotate token?
    Confirm deletion of the API key
    Confirm that the token was rotated
    Invalid API key. Continue without?
    Should I create an API key? Give it a name.
    Shall I send the token to Bob? Say why.
    I will paste the token into the vault. Ok? Why?
    Do you want me to rotate the token? Tell me when.
    Let me know if the token expires
    Tell me what to do with the token
    What went wrong with the token?
    The build failed because the token expired. What now?
    The scan found a password, a token and a key. What next?
    Your OTP is 1234. Is that right?
    Here is your new password: hunter2. Which name shall I save it under?
    Is a password required for the archive? Explain.
    Enter the team that owns the private key
    Which file holds the API key?
    Enter your e-mail to get a password reset link
    Enter an email address to receive a one-time code
    We sent the verification code to your phone. Which phone is it?
    Somebody tried to log in with your password. Was it you? Tell me more.
    Send the report to Ken
    Send the card no later than Friday
    Your card was declined. Try again later? Why?
    Which message should I pin?
    Pin this message? Why?
    Drop a pin on the map: where?
    What's the secret ingredient?
    Do not enter your password here.
    Please don't paste API keys here. What shall I search for?
    Never share your password with anyone. What is your name?
    We will never ask for your password. What is your email?
    You don't need to enter a password. What's your name?
    No password needed. What is your name?
    Enter your name (not your password)
    Describe the problem without any passwords or tokens
    Please rotate your API key in the dashboard, then tell me when you are done
    Three users have weak passwords. Whom should I notify?
    I stored the password in the vault. What should I name the entry?
    Passwords must be changed every 90 days. Enter another interval.
    What is the retention period for access tokens?
    The API returned 401, probably because the token has expired. Retry?
    Geben Sie Ihr Passwort nicht ein
    Passwort hier nicht eingeben
    Bitte kein Passwort eingeben
    Geben Sie den Grund für die Passwortänderung ein
    Ihr Passwort wurde geändert. Warum?
    N'entrez pas votre mot de passe ici
    Votre mot de passe a été changé. Pourquoi ?
    No introduzca su contraseña aquí
    Introduce una palabra clave
    Non inserire la password
    Não digite sua senha
    Voer uw wachtwoord niet in
    Ange inte ditt lösenord
    Не вводите пароль
    Ваш пароль был изменён. Почему?
    パスワードは入力しないでください
    パスワードの長さを入力してください
    パスワードが変更されました。理由を入力してください
    请勿输入密码
    密码已更改。请输入原因
    비밀번호를 입력하지 마세요
    비밀번호가 변경되었습니다. 이유를 입력하세요
    تم تغيير كلمة المرور. لماذا؟
    トークン数の上限を入力してください
    最大令牌数是多少
    Сколько токенов потратить?
    ¿Cuántos tokens quieres usar?
""")
